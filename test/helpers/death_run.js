'use strict'
// A process that terminates so many workers: death_run.js kind deaths role... Prints its
// observations as JSON, and fails when a lock is lost.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { readdirSync } = require('node:fs')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const { kinds } = require('./shared_locks.js')
const { broken, compete, missed, stop, told, visits } = require('./victim.js')

const victim = path.join(__dirname, 'victim.js')
const slots = 6
const rounds = 4
const patience = 60_000
const turn = () => new Promise(setImmediate)

const [kindName, deaths, ...roles] = process.argv.slice(2)
const perRound = Math.ceil(deaths / rounds)
const kind = kinds[kindName]
const acquire = (lock) => kind.ways.acquire.enter(lock, 1, { timeout: patience })
const crowd = kind.create()
const seen = new Int32Array(new SharedArrayBuffer(64))

function start(role, own) {
  const worker = new Worker(victim, { workerData: { role, kind: kindName, own, crowd, seen } })
  return { worker, ended: once(worker, 'exit') }
}

/**
 * Acquires it after a death. Whether the last holder died with it must be as `expected`, unless
 * null.
 */
async function inherit(lock, expected, first = acquire(lock)) {
  const release = await first
  if (expected !== null) assert.equal(release.abandoned, expected)
  release()
  const again = await acquire(lock)
  assert.equal(again.abandoned, false)
  again()
}

let dyingInCrowd = 0

// Each makes a worker die in its own way. `i` selects the variants.
const deathsOf = {
  async holds({ worker, lock, i }) {
    dyingInCrowd++
    await once(worker, 'message')
    const first = i % 2 === 0 ? acquire(lock) : undefined
    await worker.terminate()
    await inherit(lock, true, first)
  },
  async blindlyHolds({ worker, lock, i }) {
    await once(worker, 'message')
    const first = i % 2 === 0 ? acquire(lock) : undefined
    worker.terminate()
    await inherit(lock, true, first)
  },
  async waits({ worker, lock }) {
    await once(worker, 'message')
    await worker.terminate()
    await inherit(lock, false)
  },
  async isAdmitted({ worker, ended, lock, i }) {
    const release = await acquire(lock)
    await once(worker, 'message')
    const meanwhile = i % 2 === 0 ? acquire(lock) : undefined
    const order = [
      () => release() || worker.terminate(),
      () => worker.terminate() && release(),
      () => turn(worker.terminate()).then(release),
      () => turn(release()).then(() => worker.terminate()),
    ][i % 4]
    await order()
    // Until it has ended, it may be admitted again, and die holding it again.
    ;(await (meanwhile ?? acquire(lock)))()
    await ended
    await inherit(lock, null)
  },
  async blocks({ worker, lock, i }) {
    await once(worker, 'message')
    for (let left = i % 4; left > 0; left--) (await acquire(lock))()
    await worker.terminate()
    await inherit(lock, null)
  },
  /** Released before the worker notices its termination. */
  async isBlocked({ worker, lock, i }) {
    const release = await acquire(lock)
    await once(worker, 'message')
    const end = worker.terminate()
    if (i % 2 === 0) await turn()
    release()
    await end
    await inherit(lock, null)
  },
  /** The worker must notice by itself: the main thread releases when it has gone. */
  async isBlockedForGood({ worker, lock }) {
    const release = await acquire(lock)
    await once(worker, 'message')
    await worker.terminate()
    release()
    await inherit(lock, false)
  },
  async startsAtOnce({ worker, lock }) {
    await worker.terminate()
    await inherit(lock, null)
  },
  async isOnline({ worker, lock }) {
    await once(worker, 'online')
    await worker.terminate()
    await inherit(lock, null)
  },
  /** While it loads the addon, for the first time or again. */
  async loads({ worker, lock }) {
    await once(worker, 'message')
    const end = performance.now() + Math.random() * 8
    while (performance.now() < end);
    await worker.terminate()
    await inherit(lock, false)
  },
}
const roleOf = { isBlockedForGood: 'isBlocked', startsAtOnce: 'holds', isOnline: 'waits' }

let died = 0
const measures = []

async function slot(most) {
  const own = kind.create()
  const lock = kind.find(own)
  while (died < most) {
    const i = died++
    const role = roles[i % roles.length]
    // A slot would meet the same variant of a role each time.
    const variant = Math.floor(i / roles.length)
    const { worker, ended } = start(roleOf[role] ?? role, own)
    await deathsOf[role]({ worker, ended, lock, i: variant })
    await ended
    assert.ok(kind.isIdle(lock))
  }
}

/** When only the rival is alive. */
async function measure() {
  for (let i = 0; i < 3; i++) {
    global.gc()
    await turn()
  }
  const { rss, external, heapUsed } = process.memoryUsage()
  return { rss, bytes: external + heapUsed }
}

function handles() {
  const count = (what) =>
    process.platform === 'linux' ? readdirSync(`/proc/self/${what}`).length : 0
  return {
    resources: process.getActiveResourcesInfo().sort(),
    fds: count('fd'),
    threads: count('task'),
  }
}

async function main() {
  const lock = kind.find(crowd)
  // Descriptors that Node opens with the first worker.
  const first = start('waits', crowd)
  await once(first.worker, 'message')
  await first.worker.terminate()
  const before = handles()
  const rival = start('rival', crowd)
  await once(rival.worker, 'message')
  const tasks = Array.from({ length: 5 }, () => compete(kind, lock, seen))
  for (let round = 1; round <= rounds; round++) {
    await Promise.all(Array.from({ length: slots }, () => slot(round * perRound)))
    measures.push(await measure())
  }
  Atomics.store(seen, stop, 1)
  await Promise.all([...tasks, rival.ended])
  await inherit(lock, null)
  let after = handles()
  for (let i = 0; i < 200 && JSON.stringify(after) !== JSON.stringify(before); i++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    after = handles()
  }
  const [word] = new Int32Array(crowd.buffer ?? new SharedArrayBuffer(4))
  console.log(
    JSON.stringify({
      ...{ died, dyingInCrowd, before, after, measures, word },
      ...{ told: seen[told], missed: seen[missed], broken: seen[broken], visits: seen[visits] },
    }),
  )
}

main()
