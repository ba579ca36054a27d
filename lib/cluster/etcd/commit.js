'use strict'
// Turns a plan (plan.js) into one etcd transaction, which writes only if the view of the plan is still current.
const { hostname } = require('node:os')
const { memoryLease, sessionLease } = require('./client.js')
const { protocol, sessionOf } = require('./names.js')
const { entryRead, noLock, queueOf, queueRead, revive } = require('./view.js')

/** Leaves out the times of this process, which mean nothing to others. */
const withoutTimes = (name, value) => (name === 'since' ? undefined : value)
const toValue = (content) => Buffer.from(JSON.stringify(content, withoutTimes))
const isEqual = (target, key, number) => {
  const name = { Mod: 'mod_revision', Create: 'create_revision', Version: 'version' }[target]
  return { result: 'Equal', target, key, [name]: number }
}
const isNotGone = (names, id) => isEqual('Version', names.gone(id), 0)
const isThere = (key) => ({ result: 'Greater', target: 'Version', key, version: 0 })
const remove = (key) => ({ request_delete_range: { key } })
const put = (key, content, lease) => ({ request_put: { key, value: toValue(content), lease } })
const when = (compare, success, failure = []) => ({ request_txn: { compare, success, failure } })

/** The guard that the queue has no request that is newer than `view`. */
const noNewer = (names, key, view) => ({
  ...names.queue(key),
  result: 'Less',
  target: 'Create',
  create_revision: view.revision + 1,
})

/** The guards of `plan`. A given `session` must exist, and its request `own` must not be gone. */
function guardsOf(names, key, plan, session, own) {
  const { view, admitted, dead, hasFreed, hasTaken } = plan
  const isOfUpgrade = ({ id }) => id === view.upgrade?.id
  const guards = [
    // After a loss of data etcd counts revisions from 1 again, so they alone prove nothing.
    { result: 'Equal', target: 'Value', key: names.epoch, value: toValue(view.epoch) },
    isEqual('Mod', names.lock(key), view.lock.mod),
    isEqual('Mod', names.upgrade(key), view.upgrade?.mod ?? 0),
    isEqual('Mod', names.rest(key), view.rest?.mod ?? 0),
    ...Array.from(dead, (one) => isEqual('Version', names.session(one), 0)),
  ]
  for (const entry of admitted) {
    if (!isOfUpgrade(entry))
      guards.push(isEqual('Create', names.entry(key, entry.id), entry.create))
  }
  if (session !== undefined) guards.push(isThere(names.session(session)), isNotGone(names, own))
  if (hasTaken || (hasFreed && plan.hasRoom())) guards.push(noNewer(names, key, view))
  return guards
}

/** The lease of a lock's key. It deletes a lock with one holder some time after the holder's session has ended. */
const leaseOf = (holders) => (holders.length === 1 ? memoryLease(sessionOf(holders[0].id)) : 0)

/** The rest after `plan`. A new rest has no revision yet. */
function restAfter({ view, restTime }) {
  if (restTime === undefined) return view.rest
  return restTime > 0 ? { mod: 0, time: restTime } : undefined
}

/** The view after `plan`, without the revisions: only the answer has them. */
function viewAfter(plan) {
  const { view, capacity, abandoned, holders, admitted, removed } = plan
  const gone = new Set([...admitted, ...removed].map(({ id }) => id))
  return {
    epoch: view.epoch,
    lock: { mod: view.lock.mod, capacity, abandoned, holders },
    queue: view.queue.filter(({ id }) => !gone.has(id)),
    hasMore: view.hasMore,
    upgrade: gone.has(view.upgrade?.id) ? undefined : view.upgrade,
    rest: restAfter(plan),
    revision: view.revision,
  }
}

/** With more holders than this, messages do not show all of them: a transaction has room for 1.5 MB. */
const mostShown = 64

/** The part of `view` that the requests `granted` need. */
function partOf(view, granted) {
  const holders = view.lock.holders.filter(({ id }) => granted.includes(id))
  return { ...view, lock: { ...view.lock, holders }, queue: [] }
}

/** The messages that tell sessions of their grants. `wanted` is true if other requests wait. */
function messagesOf(names, key, admitted, after, wanted) {
  const ids = admitted.map(({ id }) => id)
  const isPart = after.lock.holders.length > mostShown
  return Array.from(new Set(ids.map(sessionOf)), (session) => {
    const granted = ids.filter((id) => sessionOf(id) === session)
    const view = isPart ? partOf(after, granted) : after
    const content = { key, view, isPart, granted, wanted }
    return put(names.to(session), content, sessionLease(session))
  })
}

/** The writes of `plan`. The request `own` gets no message. */
function writesOf(names, key, plan, own, restLease) {
  const { view, admitted, removed, restTime, capacity, abandoned, holders } = plan
  const isEmpty = holders.length === 0 && !abandoned
  const writes = isEmpty
    ? [remove(names.lock(key))]
    : [put(names.lock(key), { capacity, abandoned, holders }, leaseOf(holders))]
  for (const { id } of [...admitted, ...removed]) {
    writes.push(remove(id === view.upgrade?.id ? names.upgrade(key) : names.entry(key, id)))
  }
  if (restTime > 0) writes.push(put(names.rest(key), { time: restTime }, restLease))
  if (restTime === 0) writes.push(remove(names.rest(key)))
  const others = admitted.filter(({ id }) => id !== own)
  if (others.length === 0) return writes
  const after = viewAfter(plan)
  const tell = (wanted) => messagesOf(names, key, others, after, wanted)
  if (plan.isWanted()) writes.push(...tell(true))
  else writes.push(when([noNewer(names, key, view)], tell(false), tell(true)))
  return writes
}

/**
 * The transaction for `plan`, which runs `failure` if the plan is out of date. Its answer ends with the entry of the
 * request `own` and the queue.
 */
function transactionOf(names, key, plan, { own, session, restLease, failure }) {
  const reads = [entryRead(names, key, own), queueRead(names, key)]
  return {
    compare: guardsOf(names, key, plan, session, own),
    success: [...writesOf(names, key, plan, own, restLease), ...reads],
    failure,
  }
}

/** The view after `plan`, completed by the answer to its transaction. */
function committedView(plan, { header, responses }) {
  const revision = Number(header.revision)
  const view = revive(viewAfter(plan), revision)
  if (view.lock.holders.length === 0 && !view.lock.abandoned) view.lock = noLock()
  return { ...view, ...queueOf(responses.at(-1)), revision }
}

/** The messages that tell holders that a request waits. They contain this process's view if the holders are few. */
function wantedMessages(names, key, view, sessions) {
  const shown = view.lock.holders.length > mostShown ? undefined : view
  const content = { key, view: shown, granted: [], wanted: true }
  return sessions.map((session) =>
    when(
      [isThere(names.session(session))],
      [put(names.to(session), content, sessionLease(session))],
    ),
  )
}

/** Adds a request to the queue unless it is there; adds an upgrade only if no other upgrade waits. */
function joining(names, key, { session, id, units, capacity, first }) {
  const name = first ? names.upgrade(key) : names.entry(key, id)
  const content = first ? { id, units, capacity } : { units, capacity }
  const join = put(name, content, sessionLease(session))
  return when([isEqual('Create', name, 0), isNotGone(names, id)], [join])
}

/**
 * Returns the transaction that opens a session of `ttl` ms with its lease, and writes the protocol and `epoch` if they
 * are missing. It writes nothing if etcd has another protocol, or sessions without a protocol.
 */
function opening(names, session, ttl, epoch) {
  const open = [
    when([isEqual('Version', names.epoch, 0)], [put(names.epoch, epoch)]),
    put(names.session(session), ttl, sessionLease(session)),
    put(names.process(session), `${hostname()}:${process.pid}`, sessionLease(session)),
  ]
  const isOurs = { result: 'Equal', target: 'Value', key: names.version, value: toValue(protocol) }
  const isNew = isEqual('Version', names.version, 0)
  const isUnused = { ...names.sessions(), result: 'Equal', target: 'Version', version: 0 }
  const begin = [put(names.version, protocol), ...open]
  const readVersion = { request_range: { key: names.version } }
  return {
    compare: [isOurs],
    success: open,
    failure: [when([isNew, isUnused], begin, [readVersion])],
  }
}

/** If opening() was refused, returns the protocol in etcd, or undefined if only sessions are there; else null. */
function refusedFor({ succeeded, responses }) {
  if (succeeded || responses[0].response_txn.succeeded) return null
  const [found] = responses[0].response_txn.responses[0].response_range.kvs
  return found?.value.toString()
}

module.exports = {
  committedView,
  joining,
  opening,
  refusedFor,
  transactionOf,
  wantedMessages,
}
