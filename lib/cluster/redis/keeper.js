'use strict'
// Renews sessions in Redis, and confirms claims: runs in the thread of a keeper (../keeper_thread.js).
const { sessionOf } = require('./names.js')
const { explained } = require('./rights.js')
const { openSession } = require('./session.js')
const { Steps, baseOf } = require('./steps.js')

/** By package: the file with the connect() of its clients. */
const adapters = {
  '@valkey/valkey-glide': () => require('./glide.js'),
  ioredis: () => require('./ioredis.js'),
  redis: () => require('./node_redis.js'),
  sentinel: () => require('./node_sentinel.js'),
}

async function connect({ bases, rights, patience, isCluster, path, client }, trouble) {
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
  const send = (base, words) => command(base, words, patience)
  const steps = new Steps({ send, isCluster, rights })
  return {
    open: (session, ttl) => all((base) => openSession(send, base, session, ttl)),
    async renew(session, ttl) {
      // A third of the ttl leaves time for another connection.
      const time = Math.ceil(ttl / 3)
      const renewOne = (base) =>
        command(base, ['PEXPIRE', sessionOf(base, session), `${ttl}`], time)
      const answers = await all(renewOne)
      return answers.every((answer) => Number(answer) === 1)
    },
    confirm: (request) => steps.confirm(baseOf(bases, request.key), request),
    close,
  }
}

module.exports = { connect }
