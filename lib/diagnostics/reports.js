'use strict'
// What snapshots say of a watched lock: that of the lock, and the part of this thread in that of the process.
const { threadId } = require('node:worker_threads')
const { now } = require('./clock.js')
const native = require('../load.js')
const { listeners } = require('./registry.js')
const { tallied } = require('./tally.js')

/** What a snapshot of the lock has besides, which sees it `held` like that; a key has no more than its own. */
function seenOf(observer, held) {
  const { lock, tally } = observer
  const time = now()
  const ours = observer.holders(time)
  const holders = withOthers(ours, held, lock)
  const parts = { ...held, holders, oldestWait: observer.oldestWait(time) }
  if (lock.keyMap !== null) return parts
  return { ...parts, totals: { ...tally.totals }, waits: tally.waited() }
}

/** `ours`, and what is to be seen of holders elsewhere. */
function withOthers(ours, { holderPids, locked }, lock) {
  if (holderPids !== undefined) {
    const { pid } = process
    const others = holderPids.filter((other) => other !== pid || ours.length === 0)
    return [...ours.map((holder) => ({ ...holder, pid })), ...others.map((pid) => ({ pid }))]
  }
  // The word of a mutex tells which thread of this process has it.
  if (!locked || ours.length > 0 || lock.owner === undefined) return ours
  return [{ thread: listeners().get(lock.owner()), mode: 'exclusive' }]
}

/** Of a lock that is no key. */
function reportOf(observer) {
  const { kind, name, scope, tally, lock } = observer
  const { waiting, holders, oldestWait } = lock.snapshot()
  const isShared = name !== undefined || lock.share !== null
  const what = { kind, name, scope, id: idOf(observer), isShared, holders, waiting, oldestWait }
  return { ...what, ...tallied(tally) }
}

/** The same in all threads that have the lock. */
function idOf({ kind, name, scope, tally, lock }) {
  if (name !== undefined) return `${kind} ${scope} ${name}`
  if (lock.share === null) return `${kind} ${tally.id}`
  return `${kind} at ${native.regions.addressOf(lock.share.place)}`
}

/** The holders of `hold`, as far as they can be told apart. */
function eachOf(hold, time) {
  const one = holderOf(hold, time)
  return Array.from({ length: hold.mode === undefined ? +(hold.units > 0) : hold.units }, () => one)
}

function holderOf({ since, mode, weight, stack, isLeaked }, time) {
  const holder = { thread: threadId, since, heldFor: Math.max(0, time - since) }
  return { ...holder, mode, weight, stack, ...(isLeaked && { isLeaked }) }
}

module.exports = { eachOf, holderOf, reportOf, seenOf }
