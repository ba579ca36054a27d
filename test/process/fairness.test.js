'use strict'
// How long callers may overtake the head of a queue. The tests do not depend on the machine's
// speed: the hammering thread stamps its steps, and only the order of the stamps counts.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedSemaphore, Mutex, Semaphore } = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')

const rounds = 150
// In shared memory: [0] rounds done by the waiter, [1] stop, [3] the round for which it is queued.
const done = 0
const stop = 1

/**
 * Takes the mutex again and again until told to stop, as `tasks` tasks or blocking. For each wait of
 * the other: how often it has come in too late. Tasks pass the lock among themselves for 1 ms, counted from when
 * the other has become the head of the line. A blocking thread lets go of it in between: it comes in too late once
 * the other has asked for a hand-off (kHandOff of src/locks/lock_word.h).
 */
async function hammer(mutex, state, tasks) {
  const word = new Int32Array(mutex.buffer)
  const handOff = 4
  const most = []
  let ahead = tasks
  let seenAt
  let isWanted = false
  let late = 0
  let round = 0
  const inside = () => {
    const now = process.hrtime.bigint()
    const current = Atomics.load(state, 0)
    if (current !== round) {
      most.push(late)
      round = current
      ahead = tasks
      seenAt = undefined
      isWanted = false
      late = 0
    }
    if (isWanted) late++
    // Callers of this thread that were queued before it go first.
    if (Atomics.load(state, 3) === current + 1 && seenAt === undefined && --ahead <= 0) seenAt = now
    if (tasks > 0 && seenAt !== undefined && now - seenAt > 1_000_000n) late++
    // Long enough that the invited waiter comes too late most of the time.
    while (process.hrtime.bigint() - now < 50_000n);
    if (tasks === 0) isWanted = (Atomics.load(word, 0) & handOff) !== 0
  }
  const runs = Array.from({ length: Math.max(1, tasks) }, async () => {
    for (let i = 0; Atomics.load(state, 1) === 0; i++) {
      if (tasks === 0) mutex.lockSync()
      else await mutex.lock()
      inside()
      mutex.unlock()
      if (i % 5000 === 4999) await new Promise(setImmediate)
    }
  })
  await Promise.all(runs)
  return most
}

describe('fairness', () => {
  const agent = useAgents()

  /** The waiter is queued once [3] is its round: it sets [3] after the call. */
  const waiter = `
    const { buffer, state, rounds } = workerData
    const mutex = new Mutex({ buffer, fairness: workerData.fairness })
    for (let i = 0; i < rounds; i++) {
      const wait = mutex.lock()
      Atomics.store(state, 3, i + 1)
      await wait
      Atomics.store(state, 0, i + 1)
      mutex.unlock()
      await new Promise(setImmediate)
    }
    Atomics.store(state, 1, 1)`

  for (const [how, tasks] of Object.entries({ 'by lockSync': 0, 'as 4 tasks': 4 })) {
    for (const fairness of ['bounded', 'fifo']) {
      it(`a thread that hammers ${how} does not starve another (${fairness})`, async function () {
        this.timeout(60_000)
        const buffer = new SharedArrayBuffer(4)
        const state = new Int32Array(new SharedArrayBuffer(16))
        const data = { buffer, state, rounds, tasks, fairness }
        const code = `const mutex = new Mutex({ buffer: workerData.buffer })
          const hammer = ${hammer}
          const { state, tasks } = workerData
          return hammer(mutex, state, tasks)`
        const [most] = await Promise.all([agent(data).does(code), agent(data).does(waiter)])
        assert.equal(state[done], rounds)
        assert.equal(state[stop], 1)
        assert.ok(
          most.every((count) => count <= (tasks > 0 ? 1 : 0)),
          `late entries in a round: ${most}`,
        )
      })
    }
  }

  it("'fifo' is strict: a new caller never overtakes a waiter", async () => {
    const name = freshName()
    const mutex = new Mutex({ name, fairness: 'fifo' })
    const worker = agent(name)
    for (let i = 0; i < 20; i++) {
      await mutex.lock()
      const wait = await worker.begins(`
        const mutex = (my.mutex ??= new Mutex({ name: workerData, fairness: 'fifo' }))
        const wait = mutex.lock()
        say(1)
        await wait
        mutex.unlock()`)
      const own = mutex.lock() // behind it
      mutex.unlock()
      assert.equal(mutex.tryLock(), false)
      await Promise.all([wait.done, own])
      mutex.unlock()
    }
  })

  it("'fifo' holds for a semaphore with waiters of two threads", async () => {
    const name = freshName()
    const semaphore = new Semaphore(1, { name, fairness: 'fifo' })
    const order = new Int32Array(new SharedArrayBuffer(8))
    const worker = agent({ name, order })
    const [, release] = await semaphore.acquire()
    const wait = await worker.begins(`
      const { name, order } = workerData
      const semaphore = new Semaphore(1, { name, fairness: 'fifo' })
      const wait = semaphore.acquire()
      say(1)
      const [, release] = await wait
      order[0] = Atomics.add(order, 1, 1) + 1
      release()`)
    const own = semaphore.acquire()
    release()
    ;(await own)[1]()
    const place = Atomics.add(order, 1, 1) + 1
    await wait.done
    assert.deepEqual([order[0], place], [1, 2])
  })

  it("accepts 'bounded' and 'fifo' in every constructor", () => {
    for (const fairness of ['bounded', 'fifo', undefined]) {
      new Mutex({ fairness })
      new Semaphore(1, { fairness })
      new KeyedMutex({ fairness })
      new KeyedSemaphore(1, { fairness })
    }
    for (const fairness of ['FIFO', null, true, 1, {}]) {
      assert.throws(() => new Mutex({ fairness }), TypeError)
      assert.throws(() => new Semaphore(1, { fairness }), TypeError)
      assert.throws(() => new KeyedMutex({ fairness }), TypeError)
      assert.throws(() => new KeyedSemaphore(1, { fairness }), TypeError)
    }
  })
})
