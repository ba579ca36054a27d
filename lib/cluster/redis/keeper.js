'use strict'
// Renews sessions in Redis and confirms claims, in the thread of a keeper (../keeper_thread.js).
const { longestClaim } = require('../patience.js')
const { sessionOf } = require('./names.js')
const { replaced } = require('./replaced.js')
const { explained } = require('./rights.js')
const { openSession } = require('./session.js')
const { Steps, baseOf } = require('./steps.js')

/** By package: the file with the start() of its clients, which replaced.js describes. */
const adapters = {
  '@valkey/valkey-glide': () => require('./glide.js'),
  ioredis: () => require('./ioredis.js'),
  redis: () => require('./node_redis.js'),
  sentinel: () => require('./node_sentinel.js'),
}

async function connect({ bases, rights, patience, isCluster, path, client }, trouble) {
  // Load the adapter here, because the thread needs only one.
  const adapter = adapters[client.adapter ?? client.module]()
  const clients = require(path)
  const start = (events) => adapter.start(clients, client, events, patience)
  const { command, close } = replaced(start, trouble)
  const all = async (doing) => {
    try {
      return await Promise.all(bases.map(doing))
    } catch (error) {
      throw explained(error, rights)
    }
  }
  const keeper = { open, renew, close }
  let isChecked = false

  async function open(session, ttl) {
    const send = (base, words) => command(base, words, patience)
    await all((base) => openSession(send, base, session, ttl))
    check(session)
  }

  async function renew(session, ttl) {
    // A third of the ttl leaves time for another attempt with a new connection.
    const time = Math.ceil(ttl / 3)
    const renewOne = (base) => command(base, ['PEXPIRE', sessionOf(base, session), `${ttl}`], time)
    const answers = await all(renewOne)
    check(session)
    return answers.every((answer) => Number(answer) === 1)
  }

  /** Offers confirm() once the thread's user, which may be another one than the client's, proves to have all rights. */
  function check(session) {
    // With a cluster there are no claims to confirm: the driver passes no grants on.
    if (isChecked || isCluster) return
    const send = (base, words) => command(base, words, Math.min(patience, longestClaim))
    const steps = new Steps({ send, isCluster, rights })
    isChecked = true
    all((base) => steps.run('check', base, 'check', session, [])).then(
      () => {
        keeper.confirm = (request) => steps.confirm(baseOf(bases, request.key), request)
        trouble(undefined)
      },
      () => {
        isChecked = false
      },
    )
  }

  return keeper
}

module.exports = { connect }
