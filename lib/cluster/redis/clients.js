'use strict'
// One interface for the different clients of Redis:
//
//   command(key, words)          a promise for the answer to a command with the first key `key`
//   isReady()                    whether a command would be sent in this turn of the event loop; unknown for clusters
//   listening(onMessage, onEnd, patience)
//                                a separate connection that receives messages, and does not keep the process alive: see
//                                ../subscription.js. The server must accept it within `patience` ms
//   options(connection)          how another thread connects (see keeper.js): { module, isCluster, options }. `options`
//                                are from `connection` if given, otherwise from the client
//   prefix                       the prefix that the client itself adds to keys
const glide = require('./glide.js')
const ioredis = require('./ioredis.js')
const nodeRedis = require('./node_redis.js')
const nodeSentinel = require('./node_sentinel.js')

function adapt(client, connection) {
  for (const { isOurs, adapt } of [nodeSentinel, ioredis, nodeRedis, glide]) {
    if (isOurs(client)) return adapt(client, connection)
  }
  throw new TypeError(
    'client must be one of redis 5 or later (createClient, createCluster or createSentinel), of ioredis (Redis or Cluster), ' +
      'or of @valkey/valkey-glide 2.3 or later (GlideClient or GlideClusterClient)',
  )
}

module.exports = { adapt }
