'use strict'
// The clients that people have for Redis, in one shape:
//
//   command(key, words)          a promise for the answer to a command whose first key that is
//   isReady()                    whether a command would be sent in this turn of the event loop; no cluster can tell
//   listening(hear, ended, patience)
//                                a connection of its own that hears of messages, and does not keep the process alive: see
//                                ../subscription.js. It waits for no longer than `patience` ms for the server to take it
//   options(connection)          what another thread can make a connection with (see keeper.js), from `connection` where
//                                that is given, or from the client's own options
//   prefix                       what the client puts before keys by itself
const ioredis = require('./ioredis.js')
const nodeRedis = require('./node_redis.js')
const nodeSentinel = require('./node_sentinel.js')

function adapt(client, connection) {
  for (const { isOurs, adapt } of [nodeSentinel, ioredis, nodeRedis]) {
    if (isOurs(client)) return adapt(client, connection)
  }
  throw new TypeError(
    'client must be one of redis (createClient, createCluster or createSentinel), or of ioredis (Redis or Cluster)',
  )
}

module.exports = { adapt }
