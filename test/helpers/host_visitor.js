'use strict'
// A process that visits rooms behind locks of scope host until it is told to stop, or killed:
// promises on the main thread, blocking calls in a worker. It sends 'in' when it has been in a room
// for the first time.
const { setTimeout: sleep } = require('node:timers/promises')
const { Worker, isMainThread, workerData } = require('node:worker_threads')
const boxoffice = require('../..')
const { pen } = require('./host_witness')

const plan = isMainThread ? JSON.parse(process.argv[2]) : workerData.plan
const stop = new Int32Array(isMainThread ? new SharedArrayBuffer(4) : workerData.stop)
const witness = pen(plan.file, plan.who)

// Dice with the same throws in every run.
let state = (plan.seed * 2654435761 + (isMainThread ? 1 : 2)) >>> 0
function dice(sides) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * sides)
}

const options = {
  scope: 'host',
  name: plan.name,
  directory: plan.directory,
  capacity: plan.capacity,
}

/**
 * How each kind is entered: { weight, release } once admitted; a holder of all of `capacity` is
 * alone.
 */
const kinds = {
  mutex() {
    const locks = new boxoffice.KeyedMutex(options)
    return {
      wait: async (key, how) => ({ weight: 1, release: await locks.acquire(key, how) }),
      block: (key, how) => ({ weight: 1, release: locks.acquireSync(key, how) }),
      attempt: (key) => ({ weight: 1, release: locks.tryAcquire(key) }),
    }
  },
  rw() {
    const locks = new boxoffice.KeyedRWLock(options)
    const all = 1000
    return {
      wait: async (key, how) =>
        dice(3) > 0
          ? { weight: 1, release: await locks.acquireRead(key, how) }
          : { weight: all, release: await locks.acquireWrite(key, how) },
      block: (key, how) =>
        dice(3) > 0
          ? { weight: 1, release: locks.acquireReadSync(key, how) }
          : { weight: all, release: locks.acquireWriteSync(key, how) },
      attempt: (key) =>
        dice(3) > 0
          ? { weight: 1, release: locks.tryAcquireRead(key) }
          : { weight: all, release: locks.tryAcquireWrite(key) },
    }
  },
  semaphore() {
    const locks = new boxoffice.KeyedSemaphore(3, options)
    const weighed = (weight, permits) => ({ weight, release: permits?.[1] })
    return {
      wait: async (key, how) => {
        const weight = 1 + dice(3)
        return weighed(weight, await locks.acquire(key, weight, how))
      },
      block: (key, how) => {
        const weight = 1 + dice(3)
        return weighed(weight, locks.acquireSync(key, weight, how))
      },
      attempt: (key) => weighed(1, locks.tryAcquire(key, 1)),
    }
  },
}
const rooms = kinds[plan.kind]()
// A lock that no process has opened before: its file must be created, and its first entry used.
if (plan.fresh) {
  const locks = new boxoffice.KeyedMutex({ ...options, name: `${plan.name}-${plan.who}` })
  locks.tryAcquire('first')()
}

/** Some callers wait without a limit, some for a short time, some not at all. */
function patience() {
  const how = dice(10)
  if (how === 0) return { timeout: 1 + dice(5) }
  if (how === 1 && isMainThread) return { signal: AbortSignal.timeout(1 + dice(5)) }
  return undefined
}

function given({ weight, release }, began) {
  return { weight, release, waited: performance.now() - began }
}

function note(key, { weight, release, waited }) {
  const { abandoned, fencingToken } = release
  witness.enter(key, { weight, token: fencingToken, abandoned, waited })
}

const gaveUp = (error) => error.code === 'ERR_LOCK_TIMEOUT' || error.name === 'TimeoutError'

/**
 * A reader that tries to upgrade. Another reader may have been faster, and wait for all readers to
 * leave.
 */
async function rewrite(key, release) {
  witness.leave(key, 1)
  try {
    const writer = await release.upgrade()
    const { fencingToken, abandoned } = writer
    witness.enter(key, { weight: 1000, token: fencingToken, abandoned, waited: 0 })
    await new Promise(setImmediate)
    witness.leave(key, 1000)
    release = writer.downgrade()
  } catch (error) {
    if (error.code !== 'ERR_LOCK_UPGRADE') throw error
  }
  witness.enter(key, { weight: 1, token: 0n, abandoned: false, waited: 0 })
  return release
}

async function visit() {
  const key = `k${dice(plan.keys)}`
  const began = performance.now()
  let entry
  try {
    entry = dice(10) === 0 ? rooms.attempt(key) : await rooms.wait(key, patience())
  } catch (error) {
    if (gaveUp(error)) return
    throw error
  }
  if (!entry.release) return
  note(key, given(entry, began))
  const stay = dice(8)
  if (stay === 0) await sleep(1)
  else if (stay < 4) await new Promise(setImmediate)
  else if (plan.kind === 'rw' && stay === 7 && entry.weight === 1) {
    entry.release = await rewrite(key, entry.release)
  }
  witness.leave(key, entry.weight)
  entry.release()
}

function visitBlocking() {
  const key = `k${dice(plan.keys)}`
  const began = performance.now()
  let entry
  try {
    entry = dice(10) === 0 ? rooms.attempt(key) : rooms.block(key, patience())
  } catch (error) {
    if (gaveUp(error)) return
    throw error
  }
  if (!entry.release) return
  note(key, given(entry, began))
  witness.leave(key, entry.weight)
  entry.release()
}

async function main() {
  const worker = plan.blocking
    ? new Worker(__filename, { workerData: { plan, stop: stop.buffer } })
    : undefined
  const worked = new Promise((resolve) => (worker ? worker.once('exit', resolve) : resolve()))
  // Nor does it outlive a parent that has failed.
  for (const event of ['message', 'disconnect']) {
    process.once(event, () => Atomics.store(stop, 0, 1))
  }
  const loops = Array.from({ length: plan.promises }, async () => {
    for (let n = 0; Atomics.load(stop, 0) === 0; n++) {
      await visit()
      if (n % 8 === 7) await new Promise(setImmediate)
    }
  })
  process.send('in')
  await Promise.all(loops)
  await worked
  process.disconnect()
}

if (isMainThread) main()
else while (Atomics.load(stop, 0) === 0) visitBlocking()
