'use strict'
// A RecursiveMutex of several threads, which enter it again and again, awaited and blocking.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { RecursiveMutex } = require('../..')
const { freshName, useAgents, within } = require('../helpers/agents.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')

const entry = require.resolve('../..')
// In shared memory: the owner, how often a thread found that it was not alone, and the number of
// entries.
const [owner, broken, entries] = [0, 1, 2]

/**
 * Run here and in workers: enters and leaves `rounds` times, and enters again from inside in all
 * ways.
 */
async function visit(mutex, words, me, rounds, blocks) {
  let depth = 0
  /** Code inside, or asking from inside, keeps the lock. */
  const comeIn = () => {
    const expected = depth++ === 0 ? 0 : me
    if (words[owner] !== expected) Atomics.add(words, broken, 1)
    words[owner] = me
    words[entries]++
  }
  const goOut = () => {
    if (words[owner] !== me) Atomics.add(words, broken, 1)
    if (--depth === 0) words[owner] = 0
  }
  const turn = () => new Promise(setImmediate)
  const guarded = async (work) => {
    comeIn()
    try {
      return await work()
    } finally {
      goOut()
    }
  }
  const nested = (n) =>
    mutex.runExclusive(() =>
      guarded(async () => {
        if (n % 3 === 0) await turn()
        if (n > 0) await Promise.all([nested(n - 1), n % 2 === 0 ? nested(n - 2) : null])
      }),
    )
  const nestedSync = (n) =>
    mutex.runExclusiveSync(() => {
      comeIn()
      if (n > 0) nestedSync(n - 1)
      goOut()
    })
  const left = []
  const leaving = () =>
    mutex.runExclusive(() =>
      guarded(() => {
        comeIn() // from now on, for the call that is left behind
        left.push(mutex.runExclusive(() => turn().then(goOut)))
      }),
    )
  const limited = async (options) => {
    try {
      await mutex.runExclusive(() => guarded(() => nested(1)), options)
    } catch (error) {
      if (error.code !== 'ERR_LOCK_TIMEOUT' && error !== 'aborted') throw error
    }
  }
  const aborted = () => {
    const controller = new AbortController()
    setImmediate(() => controller.abort('aborted'))
    return limited({ signal: controller.signal })
  }
  for (let i = 0; i < rounds; i++) {
    if (blocks) nestedSync(i % 4)
    await Promise.all([nested(i % 4), leaving(), limited({ timeout: i % 3 }), aborted(), nested(0)])
    await Promise.all(left.splice(0))
    if (blocks && i % 16 === 0) await mutex.runExclusive(() => nestedSync(2))
  }
}

function startVisiting(at, words, me, rounds) {
  const code = `
    const { RecursiveMutex } = require(${JSON.stringify(entry)})
    const { workerData: [at, words, me, rounds] } = require('node:worker_threads')
    const [owner, broken, entries] = [0, 1, 2]
    ${visit}
    visit(new RecursiveMutex(at), words, me, rounds, true)`
  const worker = new Worker(code, { eval: true, workerData: [at, words, me, rounds] })
  return { worker, ended: once(worker, 'exit') }
}

describe('a RecursiveMutex of several threads', function () {
  this.timeout(120_000)
  const rounds = scaled(1500, 50)
  const places = {
    memory: () => ({ buffer: new RecursiveMutex({ shared: true }).buffer }),
    name: () => ({ name: freshName() }),
    'name, strictly in turn': () => ({ name: freshName(), fairness: 'fifo' }),
  }
  for (const [how, make] of Object.entries(places)) {
    it(`by ${how}: one chain at a time holds it, at any depth`, async () => {
      const at = make()
      const words = new Int32Array(new SharedArrayBuffer(16))
      const mutex = new RecursiveMutex(at)
      const ends = [2, 3].map((me) => startVisiting(at, words, me, rounds).ended)
      await visit(mutex, words, 1, rounds, false)
      assert.deepEqual(await Promise.all(ends), [[0], [0]])
      assert.equal(words[broken], 0)
      assert.ok(words[entries] > 3 * 6 * rounds, `${words[entries]} entries`)
      assert.equal(mutex.isLocked(), false)
    })
  }

  it('goes to the next thread, again and again, when a holder dies', async () => {
    const at = { name: freshName() }
    const words = new Int32Array(new SharedArrayBuffer(16))
    const mutex = new RecursiveMutex(at)
    for (let i = 0; i < scaled(40, 4); i++) {
      const before = words[entries]
      const { worker, ended } = startVisiting(at, words, 2, Infinity)
      const most = before + 1 + i * 7
      await until(() => Atomics.load(words, entries) > most)
      const waiting = mutex.runExclusive(() => mutex.runExclusive(settled))
      worker.terminate()
      await ended
      words[owner] = 0 // left by the dead thread
      await within(8000, waiting)
      await within(8000, visit(mutex, words, 1, 1, false))
    }
    assert.equal(words[broken], 0)
    assert.equal(mutex.isLocked(), false)
  })

  it('rejects its waiters with the cancelError of its own constructor', async () => {
    const cancelError = new Error('closed')
    const mutex = new RecursiveMutex({ name: freshName(), cancelError })
    await mutex.runExclusive(async () => {
      const inside = mutex.runExclusive(settled)
      const next = outcome(mutex.runExclusive(() => {}))
      mutex.cancel()
      await inside
      assert.equal(next.reason, cancelError)
    })
  })

  describe('with a thread that', () => {
    const start = useAgents()
    const inside = (step) => `
      const mutex = my.mutex = new boxoffice.RecursiveMutex({ name: workerData })
      ${step}`

    it('holds it keeps all other threads out, however often it enters again', async () => {
      const name = freshName()
      const mutex = new RecursiveMutex({ name })
      const agent = start(name)
      await agent.does(
        inside(`
          await new Promise((isIn) => {
            mutex.runExclusive(async () => {
              await mutex.runExclusive(() => {})
              isIn()
              await new Promise((end) => { my.end = end })
              await mutex.runExclusive(() => {})
            })
          })`),
      )
      assert.deepEqual([mutex.isLocked(), mutex.isHeld()], [true, false])
      const entering = outcome(mutex.runExclusive(() => 'in'))
      await assert.rejects(
        mutex.runExclusive(() => {}, { timeout: 5 }),
        { code: 'ERR_LOCK_TIMEOUT' },
      )
      assert.equal(entering.state, 'pending')
      await agent.does('my.end()')
      assert.equal(
        await within(
          8000,
          mutex.runExclusive(() => 'next'),
        ),
        'next',
      )
      assert.equal(entering.value, 'in')
    })

    it('blocks until another thread releases, and then enters again', async () => {
      const name = freshName()
      const mutex = new RecursiveMutex({ name })
      const agent = start(name)
      let done
      await mutex.runExclusive(async () => {
        const begun = await agent.begins(
          inside(`say('blocks')
            return mutex.runExclusiveSync(() => mutex.runExclusiveSync(() => 'in'))`),
        )
        done = outcome(begun.done)
        await mutex.runExclusive(settled)
        assert.equal(done.state, 'pending')
      })
      await until(() => done.state !== 'pending')
      assert.equal(done.value, 'in')
    })

    it('stops blocking after its timeout', async () => {
      const name = freshName()
      const mutex = new RecursiveMutex({ name })
      const agent = start(name)
      await mutex.runExclusive(async () => {
        const code = await agent.does(
          inside('return codeOf(() => mutex.runExclusiveSync(() => {}, { timeout: 5 }))'),
        )
        assert.equal(code, 'ERR_LOCK_TIMEOUT')
      })
      assert.equal(mutex.isLocked(), false)
    })

    for (const [how, step] of Object.entries({
      'inside, and inside again': `
        await new Promise((isIn) => {
          mutex.runExclusive(() => mutex.runExclusive(() => { isIn(); return new Promise(() => {}) }))
        })`,
      'with a call left inside': `
        await mutex.runExclusive(() => { mutex.runExclusive(() => new Promise(() => {})) })`,
      'with a caller that waits inside': `
        await mutex.runExclusive(() => {
          mutex.runExclusive(() => new Promise(() => {}))
          mutex.runExclusive(() => {})
        })`,
    })) {
      it(`dies ${how}: the next thread is admitted`, async () => {
        const name = freshName()
        const mutex = new RecursiveMutex({ name })
        const agent = start(name)
        await agent.does(inside(step))
        assert.equal(mutex.isLocked(), true)
        const next = mutex.runExclusive(() => mutex.runExclusive(() => 'in'))
        await agent.dies()
        assert.equal(await within(8000, next), 'in')
        assert.equal(mutex.isLocked(), false)
      })
    }

    it('dies blocked inside its runExclusiveSync: the next thread is admitted', async () => {
      const name = freshName()
      const mutex = new RecursiveMutex({ name })
      const agent = start(name)
      await agent.begins(
        inside(
          "mutex.runExclusiveSync(() => mutex.runExclusiveSync(() => { say('in'); sleep(1e6) }))",
        ),
      )
      const next = mutex.runExclusive(() => 'in')
      await agent.dies()
      assert.equal(await within(8000, next), 'in')
    })
  })
})

/** Waits, by turns of the event loop, until `isDone()`. */
async function until(isDone) {
  for (const end = performance.now() + 8000; !isDone() && performance.now() < end; ) await settled()
}
