'use strict'
const { rmSync } = require('node:fs')
const { join } = require('node:path')
const { etcdServer } = require('./helpers/etcd_server.js')
const { alone } = require('./helpers/guarantees_alone.js')

describe('Guarantees of etcd', function () {
  this.timeout(60_000)
  this.slow(10_000)
  alone('etcd', require.resolve('./helpers/etcd_connect.js'), {
    start: ({ env }) => etcdServer({ env }),
    end: (server) => server.stop('SIGTERM'),
    empty: ({ directory }) => rmSync(join(directory, 'data'), { recursive: true }),
  })
})
