'use strict'
// Renews sessions in Redis and confirms claims, in the thread of a keeper (../keeper_thread.js).
const { longestClaim } = require('../patience.js')
const { replaced } = require('./replaced.js')
const { Server } = require('./server.js')

/** By package: the file with the start() of its clients, which replaced.js describes. */
const adapters = {
  '@valkey/valkey-glide': () => require('./glide.js'),
  ioredis: () => require('./ioredis.js'),
  redis: () => require('./node_redis.js'),
  sentinel: () => require('./node_sentinel.js'),
}

async function connect({ path, client, ...places }, trouble) {
  // Load the adapter here, because the thread needs only one.
  const adapter = adapters[client.adapter ?? client.module]()
  const clients = require(path)
  const { patience, isCluster } = places
  const start = (events) => adapter.start(clients, client, events, patience)
  const { command, close } = replaced(start, trouble)
  // A claim that has no answer in time is over.
  const stepPatience = Math.min(patience, longestClaim)
  const server = new Server({ ...places, prefix: '', stepPatience, send: command })
  const keeper = {
    confirm: undefined,
    async open(session, ttl) {
      await server.open(session, ttl)
      check(session)
    },
    async renew(session, ttl) {
      const isRenewed = await server.renew(session, ttl)
      check(session)
      return isRenewed
    },
    close,
  }

  /** Offers confirm() once the thread's user, which may be another one than the client's, proves to have all rights. */
  async function check(session) {
    // With a cluster there are no claims to confirm: the driver passes no grants on.
    if (keeper.confirm !== undefined || isCluster) return
    try {
      await server.check(session)
      keeper.confirm = (request) => server.confirm(request)
      trouble(undefined)
    } catch {
      // The next renewal checks again.
    }
  }

  return keeper
}

module.exports = { connect }
