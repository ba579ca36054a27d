'use strict'
// Renews sessions in Redis: runs in the thread of a keeper (../keeper_thread.js).
const { hostname } = require('node:os')
const { versionError } = require('../errors.js')
const { explained } = require('./rights.js')
const { protocol, sessionOf, versionOf } = require('./names.js')

/** For operators: see docs/operations.md. */
const owner = `${hostname()}:${process.pid}`

/** By package: the file with the connect() of its clients. */
const adapters = {
  '@valkey/valkey-glide': () => require('./glide.js'),
  ioredis: () => require('./ioredis.js'),
  redis: () => require('./node_redis.js'),
  sentinel: () => require('./node_sentinel.js'),
}

async function connect({ bases, rights, patience, path, client }, trouble) {
  // Loaded here, because the thread needs only one adapter.
  const adapter = adapters[client.adapter ?? client.module]()
  const { command, close } = await adapter.connect(require(path), client, trouble, patience)
  const all = async (doing) => {
    try {
      return await Promise.all(bases.map(doing))
    } catch (error) {
      throw explained(error, rights)
    }
  }
  return {
    open: (session, ttl) =>
      all(async (base) => {
        const version = ['SET', versionOf(base), protocol, 'NX', 'GET']
        const theirs = await command(base, version, patience)
        if (theirs !== null) checkProtocol(base, `${theirs}`)
        const words = ['SET', sessionOf(base, session), `${owner} ${ttl}`, 'PX', `${ttl}`]
        await command(base, words, patience)
      }),
    async renew(session, ttl) {
      // A third of the ttl leaves time for another connection.
      const time = Math.ceil(ttl / 3)
      const renewOne = (base) =>
        command(base, ['PEXPIRE', sessionOf(base, session), `${ttl}`], time)
      const answers = await all(renewOne)
      return answers.every((answer) => Number(answer) === 1)
    },
    close,
  }
}

function checkProtocol(base, theirs) {
  if (theirs === protocol) return
  const cure = `delete all keys that begin with ${base}:`
  throw versionError(`${base} in Redis`, theirs, protocol, cure)
}

module.exports = { connect }
