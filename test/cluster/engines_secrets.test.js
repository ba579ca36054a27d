'use strict'
// A connection string has a password, and is easily given in place of a client or of options.
const assert = require('node:assert/strict')
const { etcd } = require('../../lib/cluster/etcd')
const { postgres } = require('../../lib/cluster/postgres')
const { redis } = require('../../lib/cluster/redis')

const text = 'tcp://admin:s3cr3t@server/'
const pool = { query() {}, Client() {}, options: {}, on() {} }
const client = { leaseClient: {}, pool: { exec() {}, options: {} } }

const calls = {
  'redis(text)': () => redis(text),
  'etcd(text)': () => etcd(text),
  'postgres(text)': () => postgres(text),
  'etcd(client, text)': () => etcd(client, text),
  'etcd(client, { connection: text })': () => etcd(client, { connection: text }),
  'postgres(pool, text)': () => postgres(pool, text),
  'postgres(pool, { connection: text })': () => postgres(pool, { connection: text }),
}

describe('A connection string in place of a client or of options', () => {
  for (const [name, call] of Object.entries(calls)) {
    it(`is not in the message: ${name}`, () => {
      assert.throws(call, ({ name: kind, message }) => {
        assert.equal(kind, 'TypeError')
        assert.doesNotMatch(message, /s3cr3t|admin/)
        return true
      })
    })
  }
})
