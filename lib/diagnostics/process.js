'use strict'
// snapshot(): the reports of all threads of this process about their locks with diagnostics, merged.
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const { BroadcastChannel, threadId } = require('node:worker_threads')
const { agent } = require('../process/waiters.js')
const { readTimes } = require('./histogram.js')
const { oldestOf } = require('./reports.js')
const { answer, ask, listeners } = require('./registry.js')
const { addTimes, addTotals } = require('./tally.js')

/** How long to wait for a thread that is blocked, in milliseconds. */
const patience = 250

let last = 0

async function snapshot() {
  const at = Date.now()
  const asked = listeners()
  asked.delete(agent)
  const answers = [answer()]
  if (asked.size > 0) answers.push(...(await answersOf(asked)))
  const deadlocks = answers.flatMap(({ deadlocks }) => deadlocks).sort((a, b) => a.at - b.at)
  return {
    at,
    pid: process.pid,
    threads: threadsOf(asked, answers),
    locks: merged(answers),
    deadlocks,
  }
}

/** Resolves to the answers that come in time from the threads `asked`. */
function answersOf(asked) {
  const name = `boxoffice:answers:${agent}:${++last}`
  const answers = []
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(name)
    const end = () => {
      clearTimeout(timer)
      channel.close()
      resolve(answers)
    }
    const timer = setTimeout(end, patience)
    channel.onmessage = ({ data }) => {
      answers.push(data)
      if (answers.length === asked.size) end()
    }
    ask(name)
  })
}

function threadsOf(asked, answers) {
  const silent = new Map(asked)
  for (const { agent } of answers) silent.delete(agent)
  const ids = new Set([threadId, ...asked.values()])
  const unheard = new Set(silent.values())
  return [...ids].sort((a, b) => a - b).map((id) => ({ id, answered: !unheard.has(id) }))
}

function merged(answers) {
  const all = new Map()
  for (const { locks } of answers) {
    for (const lock of locks) {
      const known = all.get(lock.id)
      all.set(lock.id, known === undefined ? lock : both(known, lock))
    }
  }
  const locks = [...all.values()]
  for (const lock of locks) {
    for (const times of ['waits', 'holds']) {
      if (lock[times] !== undefined) lock[times] = readTimes(lock[times])
    }
    lock.holders = eachOnce(lock.holders)
  }
  return locks
}

function both(one, other) {
  return {
    ...one,
    holders: [...one.holders, ...other.holders],
    // The threads that share a lock all report the same queue.
    waiting:
      one.scope === 'cluster' ? one.waiting + other.waiting : Math.max(one.waiting, other.waiting),
    oldestWait: longest(one.oldestWait, other.oldestWait),
    waiters: oldestOf(one.waiters, other.waiters),
    totals: one.totals && addTotals(one.totals, other.totals),
    waits: one.waits && addTimes(one.waits, other.waits),
    holds: one.holds && addTimes(one.holds, other.holds),
  }
}

function longest(one, other) {
  if (one === undefined || other === undefined) return one ?? other
  return Math.max(one, other)
}

/** Returns each holder once. Prefers the report of the holding thread, since other threads know only its id. */
function eachOnce(holders) {
  if (holders.length < 2) return holders
  const known = holders.filter(({ since }) => since !== undefined)
  const threads = new Set(known.map(({ thread }) => thread))
  const pids = new Set(known.map(({ pid }) => pid))
  const rest = holders.filter(({ since, thread, pid }) => {
    if (since !== undefined) return false
    const isNew = thread === undefined ? !pids.has(pid) : !threads.has(thread)
    threads.add(thread)
    pids.add(pid)
    return isNew
  })
  return [...known, ...rest]
}

module.exports = { snapshot }
