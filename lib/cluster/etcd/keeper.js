'use strict'
// Renews sessions in etcd, in the thread of a keeper (../keeper_thread.js). A session consists of a lease, whose number
// is derived from the session, and a key attached to it.
const { inTime } = require('../patience.js')
const { firstTurn, makeStreamClient, memoryLease, sessionLease } = require('./client.js')
const { namesUnder } = require('./names.js')
const { openSession } = require('./session.js')

async function connect({ path, connection, prefix, time }) {
  const etcd3 = require(path)
  const names = namesUnder(prefix)
  let client
  let turn = firstTurn()
  /** One attempt to renew may take ttl / parts: if there are several servers, this leaves time to try the others. */
  const isSingle = connection.hosts.length === 1
  const parts = isSingle ? 3 : 9

  /**
   * Calls doing(client), with a limit of `time` ms. After a failure, which may be a hang or an expired token, the next
   * call makes a new client.
   */
  async function byClient(time, doing) {
    client ??= makeStreamClient(etcd3, connection, turn++, time, prefix)
    const own = client
    try {
      return await inTime(doing(own), time)
    } catch (error) {
      if (client === own) client = undefined
      own.close()
      throw error
    }
  }

  return {
    open: (session, ttl) =>
      byClient(isSingle ? ttl : time, (own) => openSession(own, names, session, ttl)),
    renew: (session, ttl) => byClient(ttl / parts, (own) => renew(own, names, session)),
    close: async () => client?.close(),
  }
}

/** Resolves to whether the session still exists: both its key and its lease, because an operator may delete either. */
async function renew({ kv, leaseClient }, names, session) {
  const [isRenewed, { count }] = await Promise.all([
    renewLeases(leaseClient, session),
    kv.range({ key: names.session(session), count_only: true }),
  ])
  return isRenewed && Number(count) > 0
}

/** Resolves to whether the session's lease still exists. */
async function renewLeases(leaseClient, session) {
  const stream = await leaseClient.leaseKeepAlive()
  const own = sessionLease(session)
  try {
    return await new Promise((resolve, reject) => {
      stream.on('error', reject)
      stream.on('end', () => reject(new Error('etcd has ended the stream of renewals')))
      stream.on('data', ({ ID, TTL }) => {
        if (ID === own) resolve(Number(TTL) > 0)
      })
      for (const ID of [memoryLease(session), own]) stream.write({ ID })
    })
  } finally {
    stream.end()
  }
}

module.exports = { connect }
