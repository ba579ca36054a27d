'use strict'
// Random tasks that nest locks. With one order for all there is no deadlock, and none is reported;
// without an order every deadlock is found, and only deadlocks are.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { KeyedMutex, Mutex, RecursiveMutex, RWLock, Semaphore } = require('../..')
const { within } = require('../helpers/agents.js')
const { scaled } = require('../helpers/scale.js')

const diagnostics = true
const turn = () => new Promise(setImmediate)
const pauses = [() => undefined, () => null, turn]

// Six locks of all kinds, in order: each runs its inner tasks in one of two ways.
function makeLocks() {
  const mutex = new Mutex({ diagnostics })
  const semaphore = new Semaphore(2, { diagnostics })
  const lock = new RWLock({ diagnostics })
  const keys = new KeyedMutex({ diagnostics })
  const recursive = new RecursiveMutex({ diagnostics })
  const bare = new Mutex({ diagnostics })
  const byReleaser = async (inside) => {
    const release = await bare.acquire({ timeout: 60_000 })
    return Promise.resolve(inside()).finally(release)
  }
  return [
    (inside) => mutex.runExclusive(inside),
    (inside, way) => semaphore.runExclusive(inside, 1 + (way % 2)),
    (inside, way) => (way % 2 === 0 ? lock.runExclusive(inside) : lock.runShared(inside)),
    (inside, way) => keys.runExclusive(`key ${way % 2}`, inside),
    (inside) => recursive.runExclusive(inside),
    byReleaser,
  ]
}

// A task acquires its lock, and inside it all its children at once, which acquire later locks.
const leaf = fc.record({
  step: fc.integer({ min: 1, max: 3 }),
  way: fc.nat(1),
  pause: fc.nat(2),
  inner: fc.constant([]),
})
let task = leaf
for (let depth = 0; depth < 3; depth++) {
  const inner = fc.array(task, { maxLength: 2 })
  task = fc.tuple(leaf, inner).map(([first, rest]) => ({ ...first, inner: rest }))
}

async function runInOrder(locks, { step, way, pause, inner }, after) {
  const at = after + step
  if (at >= locks.length) return
  const inside = async () => {
    await pauses[pause]()
    await Promise.all(inner.map((each) => runInOrder(locks, each, at)))
    await pauses[(pause + 1) % 3]()
  }
  await locks[at](inside, way)
}

// Without an order: each task nests mutexes, and may reach one that it holds.
const path = fc.array(fc.record({ lock: fc.nat(3), pause: fc.nat(2) }), {
  minLength: 1,
  maxLength: 4,
})

class Crowd {
  refused = 0
  #tasks = new Set()

  constructor() {
    this.mutexes = [0, 1, 2, 3].map(() => new Mutex({ diagnostics }))
  }

  async run(path) {
    const task = { held: [], wants: undefined }
    this.#tasks.add(task)
    try {
      await this.#go(task, path)
    } catch (error) {
      if (error.code !== 'ERR_LOCK_DEADLOCK') throw error
      this.refused++
    }
    this.#tasks.delete(task)
  }

  async #go(task, [first, ...rest]) {
    await pauses[first.pause]()
    task.wants = first.lock
    let release
    try {
      release = await this.mutexes[first.lock].acquire()
    } catch (error) {
      assert.ok(this.#isStuck(task), `no deadlock: ${error.message}`)
      throw error
    }
    task.wants = undefined
    task.held.push(first.lock)
    try {
      if (rest.length > 0) await this.#go(task, rest)
    } finally {
      task.held.pop()
      release()
    }
  }

  /** Whether it is on a cycle of waiters and holders: a mutex has one holder. */
  #isStuck(task) {
    let wants = task.wants
    for (let i = 0; i <= this.#tasks.size; i++) {
      const holder = [...this.#tasks].find(({ held }) => held.includes(wants))
      if (holder === task) return true
      wants = holder?.wants
      if (wants === undefined) return false
    }
    return false
  }
}

describe('Deadlocks, against a model', function () {
  this.timeout(120_000)

  it('are not reported if all locks are acquired in one order', async () => {
    const play = async (tasks) => {
      const locks = makeLocks()
      const all = Promise.all(tasks.map((each) => runInOrder(locks, each, -1)))
      await within(10_000, all)
    }
    const tasks = fc.array(task, { minLength: 2, maxLength: 6 })
    await fc.assert(fc.asyncProperty(tasks, play), { numRuns: scaled(500, 250) })
  })

  it('are found if there is no order, each of them and nothing else', async () => {
    let refused = 0
    const play = async (paths) => {
      const crowd = new Crowd()
      const all = Promise.all(paths.map((each) => crowd.run(each)))
      await within(10_000, all)
      for (const mutex of crowd.mutexes) assert.equal(mutex.isLocked(), false)
      refused += crowd.refused
    }
    const numRuns = scaled(500, 250)
    const paths = fc.array(path, { minLength: 2, maxLength: 6 })
    await fc.assert(fc.asyncProperty(paths, play), { numRuns })
    assert.ok(refused > numRuns / 4, `${refused} deadlocks are too few to tell`)
  })
})
