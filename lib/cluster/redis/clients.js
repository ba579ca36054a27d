'use strict'
// Gives the different clients of Redis one interface:
//
//   command(key, words)          sends a command whose first key is `key`, and returns a promise for the answer
//   isReady()                    whether a command would be sent in this turn of the event loop; false if unknown
//   listening(onMessage, onEnd, patience)
//                                returns a separate connection that receives messages: see ../subscription.js. The
//                                server must accept it within `patience` ms
//   options(connection)          returns how the renewing thread connects (keeper.js): { module, isCluster, options },
//                                with the options `connection`, or if that is undefined, those of the client
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
