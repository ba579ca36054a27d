'use strict'
// The reports about a lock with diagnostics: for the snapshot of the lock, and for this thread's part of snapshot().
const { threadId } = require('node:worker_threads')
const { now } = require('./clock.js')
const { readTimes } = require('./histogram.js')
const { listeners } = require('./registry.js')
const { tallied } = require('./tally.js')
const { idOf } = require('./title.js')

/** Adds diagnostics to `held`, the snapshot of a lock. A key has no totals. */
function seenOf(observer, held) {
  const { lock, tally } = observer
  const time = now()
  const ours = observer.holders(time)
  const holders = withOthers(ours, held, lock)
  const parts = { ...held, holders, oldestWait: observer.oldestWait(time) }
  if (lock.keyMap !== null) return parts
  return { ...parts, totals: { ...tally.totals }, waits: readTimes(tally.waits) }
}

/** Returns the holders `ours`, and the known holders in other threads and processes. */
function withOthers(ours, { holderPids, locked }, lock) {
  if (holderPids !== undefined) {
    const { pid } = process
    const others = holderPids.filter((other) => other !== pid || ours.length === 0)
    return [...ours.map((holder) => ({ ...holder, pid })), ...others.map((pid) => ({ pid }))]
  }
  // If a thread of this process holds a mutex, the word contains its agent.
  if (!locked || ours.length > 0 || lock.owner === undefined) return ours
  return [{ thread: listeners().get(lock.owner()), mode: 'exclusive' }]
}

/** Returns the report of a lock that is not for a key. */
function reportOf(observer) {
  const { kind, name, scope, tally, lock, madeAt } = observer
  const { waiting, holders, oldestWait } = lock.snapshot()
  const thread = name === undefined && lock.shared === null ? threadId : undefined
  const state = { holders, waiting, oldestWait, waiters: waitersOf(observer, now()) }
  const what = { kind, name, scope, madeAt, id: idOf(observer), thread }
  return { ...what, ...state, ...tallied(tally) }
}

/** Returns the holders that share the record `hold`. Grants of a semaphore in one callback may count as one holder. */
function eachOf(hold, time) {
  const one = holderOf(hold, time)
  return Array.from({ length: hold.mode === undefined ? +(hold.units > 0) : hold.units }, () => one)
}

function holderOf({ since, mode, weight, stack, isLeaked }, time) {
  const heldFor = Math.max(0, time - since)
  const holder = { thread: threadId, since, heldFor, mode, weight, stack }
  if (isLeaked) holder.isLeaked = isLeaked
  return holder
}

/** The most waiters of a lock in a report. */
const mostWaiters = 20

/** Returns the oldest waiters. Waits are in the order in which they began. */
function waitersOf({ waits }, time) {
  const waiters = []
  for (const { count, since, mode, weight, stack } of waits) {
    const waitedFor = Math.max(0, time - since)
    const waiter = { thread: threadId, since, waitedFor, mode, weight, stack }
    for (let i = 0; i < count && waiters.length < mostWaiters; i++) waiters.push(waiter)
    if (waiters.length === mostWaiters) break
  }
  return waiters
}

/** Returns the oldest waiters of two lists. */
const oldestOf = (some, others) =>
  [...some, ...others].sort((a, b) => a.since - b.since).slice(0, mostWaiters)

/** The most holders that the error of a timeout names. */
const mostNamed = 3

/** Returns `holders` as text for the error of a timeout. */
function textOfHolders(holders) {
  if (holders.length === 0) return 'held by no thread of this process'
  const named = holders.slice(0, mostNamed).map(described)
  if (holders.length > mostNamed) named.push(`by ${holders.length - mostNamed} more`)
  return `held ${named.join(', ')}`
}

function described({ thread, pid, since, heldFor, stack, isLeaked }) {
  const words = [`by ${holderName(thread, pid)}`]
  if (since !== undefined)
    words.push(`since ${new Date(since).toISOString()} (${Math.round(heldFor)} ms)`)
  const [place] = (stack ?? '').split('\n')
  if (place !== '') words.push(`acquired ${place.trim()}`)
  if (isLeaked) words.push('whose releaser was collected as garbage')
  return words.join(' ')
}

function holderName(thread, pid) {
  if (pid !== undefined && pid !== process.pid) return `process ${pid}`
  if (thread === undefined) return 'another thread'
  return thread === 0 ? 'the main thread' : `thread ${thread}`
}

module.exports = { eachOf, holderOf, oldestOf, reportOf, seenOf, textOfHolders, waitersOf }
