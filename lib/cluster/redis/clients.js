'use strict'
// The clients that people have for Redis, in one shape:
//
//   command(key, words)          a promise for the answer to a command whose first key that is
//   isReady()                    whether a command would be sent in this turn of the event loop; no cluster can tell
//   listening(hear, ended, patience)
//                                a connection of its own that hears of messages, and does not keep the process alive: see
//                                subscriber.js. It waits for no longer than `patience` ms for the server to take it
//   options(connection)          what another thread can make a connection with (see keeper.js), from `connection` where
//                                that is given, or from the client's own options
//   prefix                       what the client puts before keys by itself
const ioredis = require('./ioredis.js')
const nodeRedis = require('./node_redis.js')

function adapt(client) {
  for (const { isOurs, adapt } of [ioredis, nodeRedis]) if (isOurs(client)) return adapt(client)
  if (typeof client?.getSentinelNode === 'function') {
    throw new TypeError(
      'client must not be of createSentinel(), which does not say what it connects with, as another thread must: ' +
        'with a Sentinel, use a client of ioredis, new Redis({ sentinels, name })',
    )
  }
  throw new TypeError(
    'client must be one of redis (createClient or createCluster), or of ioredis (Redis or Cluster)',
  )
}

module.exports = { adapt }
