'use strict'
// Opens a session in etcd, with the client of the renewing thread (keeper.js) or of the commands (store.js).
const { versionError } = require('../errors.js')
const { memoryLease, sessionLease } = require('./client.js')
const { opening, refusedFor } = require('./commit.js')
const { protocol } = require('./names.js')
const { epochAt } = require('./view.js')

/** The time in seconds for which etcd keeps the locks of a session that has ended. */
const memory = 600

const seconds = (ttl) => Math.ceil(ttl / 1000)

/** Opens `session` for `ttl` ms with a client of etcd3. */
async function openSession({ kv, leaseClient }, names, session, ttl) {
  const ID = sessionLease(session)
  const [{ header }] = await Promise.all([
    leaseClient.leaseGrant({ ID, TTL: seconds(ttl) }),
    leaseClient.leaseGrant({ ID: memoryLease(session), TTL: seconds(ttl) + memory }),
  ])
  const epoch = epochAt(Date.now(), Number(header.revision))
  const theirs = refusedFor(await kv.txn(opening(names, session, ttl, epoch)))
  if (theirs === null) return
  const cure = `run "etcdctl del --prefix ${names.prefix}/"`
  throw versionError(`${names.prefix}/ in etcd`, theirs ?? 0, protocol, cure)
}

module.exports = { openSession }
