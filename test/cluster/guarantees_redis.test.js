'use strict'
const { rmSync } = require('node:fs')
const { join } = require('node:path')
const { alone } = require('./helpers/guarantees_alone.js')
const { redisNode } = require('./helpers/redis_pair.js')

describe('Guarantees of Redis', function () {
  this.timeout(60_000)
  this.slow(10_000)
  alone('Redis', require.resolve('./helpers/redis_connect.js'), {
    start: ({ env }) =>
      redisNode({ env, options: ['--appendonly', 'yes', '--appendfsync', 'always'] }),
    end: (server) => server.stop('SIGTERM'),
    empty: ({ directory }) => rmSync(join(directory, 'appendonlydir'), { recursive: true }),
  })
})
