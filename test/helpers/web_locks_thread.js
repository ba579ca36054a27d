'use strict'
// The operations of one thread on some locks, and its records for an oracle.
const { parentPort, Worker, workerData } = require('node:worker_threads')

// For each name in shared memory: the holder, and forbidden states.
const fields = 4
const [writers, readers, broken, visits] = [0, 1, 2, 3]

const turn = () => new Promise(setImmediate)

/** The same numbers in each run. */
function dice(seed) {
  let random = seed + 1
  return (sides) => {
    random = (Math.imul(random, 1103515245) + 12345) & 0x7fffffff
    return (random >> 8) % sides
  }
}

function enter(seen, at, isShared) {
  const breaks = (is) => is && Atomics.add(seen, at + broken, 1)
  if (isShared) {
    Atomics.add(seen, at + readers, 1)
    breaks(Atomics.load(seen, at + writers) !== 0)
  } else {
    breaks(Atomics.add(seen, at + writers, 1) !== 0 || Atomics.load(seen, at + readers) !== 0)
    seen[at + visits]++ // not atomic: no other thread is here
  }
}

function leave(seen, at, isShared) {
  Atomics.sub(seen, at + (isShared ? readers : writers), 1)
}

/**
 * Visits `visits` times, by `tasks` at once. Resolves to a row for each visit: the lock, whether
 * shared, the time before the request and after it, and the time of admission. A visit that gave up
 * has no row.
 */
async function play({ names, seen, clock, thread, tasks, visits }) {
  const { locks } = require('../..')
  const some = dice(thread)
  const now = () => Atomics.add(clock, 0, 1)
  const rows = []
  let given = 0
  const visit = async () => {
    const name = some(names.length)
    const at = name * fields
    const isShared = some(3) !== 0
    const mode = isShared ? 'shared' : 'exclusive'
    const options = [
      { mode },
      { mode },
      { mode },
      { mode, ifAvailable: true },
      { mode, timeout: some(3) },
    ][some(5)]
    const row = [name, isShared, now()]
    const body = async (lock) => {
      if (lock === null) return
      row[4] = now()
      enter(seen, at, isShared)
      if (some(4) === 0) await turn()
      leave(seen, at, isShared)
      rows.push(row)
    }
    const promise = locks.request(names[name], options, body)
    row[3] = now()
    await promise.catch((error) => {
      if (error.code !== 'ERR_LOCK_TIMEOUT') throw error
    })
  }
  const task = async () => {
    while (given++ < visits) {
      await visit()
      if (some(8) === 0) await turn()
    }
  }
  await Promise.all(Array.from({ length: tasks }, task))
  return rows
}

function startPlaying(part) {
  return new Worker(__filename, { workerData: part })
}

if (workerData?.visits !== undefined) play(workerData).then((rows) => parentPort.postMessage(rows))

module.exports = { broken, fields, play, startPlaying, visits }
