'use strict'
// Workers that are to be terminated, their code, and the code of every competitor. See
// death_run.js.
const { parentPort, workerData } = require('node:worker_threads')

// In shared memory: the state of the crowd's lock, written by its holder.
const inside = 0 // the holder
const dead = 1 // whether the holder will die for certain
const told = 2 // the number of reported deaths
const missed = 3 // the number of unreported deaths
const broken = 4 // how often two were inside
const visits = 5
const stop = 6
const names = 7

const turn = () => new Promise(setImmediate)

/** The code of the crowd lock's holder. Any line of it may be the last. */
function enter(seen, name, { abandoned }) {
  if (seen[dead] !== 0) {
    seen[abandoned ? told : missed]++
    seen[dead] = 0
  }
  seen[inside] = name
  seen[visits]++
}

function leave(seen, name) {
  if (seen[inside] !== name) seen[broken]++
}

/** Visits the crowd, as one of several tasks of a thread. */
async function visit(kind, lock, seen, name, i) {
  const release = await kind.ways.acquire.enter(
    lock,
    1,
    i % 7 === 0 ? { timeout: 30_000 } : undefined,
  )
  enter(seen, name, release)
  if (i % 3 === 0) await turn()
  leave(seen, name)
  release()
}

const newName = (seen) => Atomics.add(seen, names, 1) + 1

async function compete(kind, lock, seen) {
  for (let i = 0; Atomics.load(seen, stop) === 0; i++) {
    // A unique number for each entry.
    await visit(kind, lock, seen, newName(seen), i)
    await turn()
  }
}

const stay = () => setInterval(() => {}, 1000)
const ready = () => parentPort.postMessage('ready')

const roles = {
  /** Dies with both locks, for certain. */
  async holds(kind, own, crowd, seen) {
    await kind.ways.acquire.enter(own, 1)
    enter(seen, newName(seen), await kind.ways.acquire.enter(crowd, 1))
    seen[dead] = 1
    ready()
    stay()
  },
  /** The same, without a turn of the event loop. */
  blindlyHolds(kind, own) {
    kind.enterSync(own, 1)
    ready()
    for (;;);
  },
  /** Enters and leaves, with many tasks, and mostly waits. */
  async waits(kind, _own, crowd, seen) {
    for (let i = 0; i < 10; i++) compete(kind, crowd, seen)
    await visit(kind, crowd, seen, newName(seen), 1)
    ready()
  },
  /** Several callers wait for a lock of the main thread, and pass it on. */
  isAdmitted(kind, own) {
    const enterOwn = async () => (await kind.ways.acquire.enter(own, 1))()
    for (let i = 0; i < 5; i++) enterOwn()
    ready()
    stay()
  },
  /** Enters and leaves, blocking, beside others that do so. */
  blocks(kind, own) {
    ready()
    for (;;) kind.enterSync(own, 1)()
  },
  /** Blocked behind the main thread. */
  isBlocked(kind, own) {
    ready()
    kind.enterSync(own, 1)
    stay()
  },
  /** Loads the addon, again and again. */
  loads(_kind, _own, _crowd, _seen, load) {
    for (;;) load()
  },
}

function live({ role, kind: name, own, crowd, seen }) {
  if (role === 'loads') ready()
  // Loads the package here, because another thread may be waiting for that.
  const { kinds } = require('./shared_locks.js')
  const kind = kinds[name]
  const load = () => {
    for (const file of Object.keys(require.cache))
      if (!file.endsWith('.node')) delete require.cache[file]
    require('../..')
  }
  return roles[role](kind, kind.find(own), kind.find(crowd), seen, load)
}

/** Competes as long as the run lasts: the survivor. */
async function rival({ kind: name, crowd, seen }) {
  const { kinds } = require('./shared_locks.js')
  const kind = kinds[name]
  const lock = kind.find(crowd)
  ready()
  await Promise.all(Array.from({ length: 5 }, () => compete(kind, lock, seen)))
}

if (workerData?.role === 'rival') rival(workerData)
else if (workerData?.role !== undefined) live(workerData)

module.exports = { broken, compete, missed, stop, told, visits }
