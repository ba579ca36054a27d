'use strict'
// The events of watched locks for subscribers of node:diagnostics_channel.
const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const { threadId } = require('node:worker_threads')
const boxoffice = require('../..')
const { ConditionVariable, KeyedMutex, Mutex, RWLock, Semaphore, snapshot } = boxoffice
const deadlock = require('../../lib/diagnostics/deadlock.js')
const { freshName, useAgents, within } = require('../helpers/agents.js')

const names = ['wait', 'admit', 'release', 'timeout', 'abort', 'abandoned', 'deadlock']

/** Subscribes `hear(name, message)` to all of them for each test. */
function useSubscriber(hear) {
  const subscribers = names.map((name) => [
    channel(`boxoffice:${name}`),
    (message) => hear(name, message),
  ])
  beforeEach(() => {
    for (const [one, subscriber] of subscribers) one.subscribe(subscriber)
  })
  afterEach(() => {
    for (const [one, subscriber] of subscribers) one.unsubscribe(subscriber)
  })
}

for (const diagnostics of ['counters', true]) {
  describe(`Events of diagnostics: ${diagnostics}`, () => {
    const agent = useAgents()
    let heard = []
    useSubscriber((name, message) => heard.push({ event: name, ...message }))
    beforeEach(() => {
      heard = []
    })
    const events = () => heard.splice(0).map(({ event }) => event)

    it('report a grant and its end, by any method', async () => {
      const name = freshName()
      const mutex = new Mutex({ name, diagnostics })
      const release = await mutex.acquire()
      const what = { kind: 'Mutex', name, key: undefined, scope: 'process', mode: 'exclusive' }
      const common = { ...what, weight: undefined, thread: threadId }
      assert.deepEqual(heard, [{ event: 'admit', ...common, waited: 0 }])
      heard = []
      release()
      release()
      const [{ held, ...rest }, ...more] = heard
      assert.deepEqual(rest, { event: 'release', ...common })
      assert.ok(held >= 0)
      assert.deepEqual(more, [])
      heard = []
      mutex.tryLock()
      mutex.unlock()
      await mutex.runExclusive(() => {})
      assert.deepEqual(events(), ['admit', 'release', 'admit', 'release'])
    })

    it('come in order: a wait, a release, and the admission that it makes', async () => {
      const mutex = new Mutex({ diagnostics })
      await mutex.lock()
      const next = mutex.lock()
      mutex.unlock()
      await next
      mutex.unlock()
      assert.deepEqual(events(), ['admit', 'wait', 'release', 'admit', 'release'])
    })

    it('omit a caller that passes through, and report both for a caller that waits for a condition', async () => {
      // In a shared lock, waitForUnlock goes through the queue.
      const mutex = new Mutex({ diagnostics, shared: true })
      const condition = new ConditionVariable({ shared: true })
      await mutex.lock()
      const passed = mutex.waitForUnlock()
      const next = mutex.lock()
      mutex.unlock()
      await passed
      await next
      assert.deepEqual(events(), ['admit', 'wait', 'release', 'admit'])
      const back = condition.wait(mutex)
      assert.deepEqual(events(), ['release'])
      condition.notifyAll()
      await back
      mutex.unlock()
      assert.deepEqual(events(), ['admit', 'release'])
    })

    it('report each grant of one turn, and units put back of it', async () => {
      const semaphore = new Semaphore(3, { diagnostics })
      await semaphore.acquire(2)
      const [, release] = await semaphore.acquire()
      semaphore.release(1)
      release()
      const weights = heard.map(({ event, weight }) => `${event} ${weight}`)
      assert.deepEqual(weights, ['admit 2', 'admit 1', 'release 1', 'release 1'])
    })

    it('name a wait by an object that no other wait has, until it ends', async () => {
      const mutex = new Mutex({ name: freshName(), diagnostics })
      mutex.tryLock() // not awaited, so that this chain of calls does not wait for itself
      assert.equal('wait' in heard[0], false)
      heard = []
      const controller = new AbortController()
      const waits = [
        mutex.lock(),
        mutex.lock({ timeout: 5 }).catch(() => {}),
        mutex.lock({ signal: controller.signal }).catch(() => {}),
      ]
      const begun = heard.map(({ wait }) => wait)
      heard = []
      controller.abort()
      await waits[1]
      mutex.unlock()
      await waits[0]
      mutex.unlock()
      assert.equal(new Set(begun).size, 3)
      const ended = heard.filter(({ event }) => event !== 'release')
      assert.deepEqual(
        ended.map(({ event, wait }) => [event, begun.indexOf(wait)]),
        [
          ['abort', 2],
          ['timeout', 1],
          ['admit', 0],
        ],
      )
    })

    it('report how a wait fails', async () => {
      const mutex = new Mutex({ diagnostics })
      mutex.tryLock() // not awaited, so that this chain of calls does not wait for itself
      heard = []
      const errors = []
      const keep = (error) => errors.push(error)
      await mutex.lock({ timeout: 2 }).catch(keep)
      await mutex.lock({ timeout: 0 }).catch(keep)
      await mutex.acquire({ signal: AbortSignal.abort('now') }).catch(keep)
      const controller = new AbortController()
      const aborted = mutex.acquire({ signal: controller.signal }).catch(keep)
      controller.abort('later')
      const canceled = mutex.acquire().catch(keep)
      mutex.cancel('canceled')
      await Promise.all([aborted, canceled])
      assert.deepEqual(
        heard.map(({ event, reason }) => [event, reason]),
        [
          ['wait', undefined],
          ['timeout', undefined],
          ['timeout', undefined],
          ['abort', 'now'],
          ['wait', undefined],
          ['abort', 'later'],
          ['wait', undefined],
          ['abort', 'canceled'],
        ],
      )
      assert.ok(heard[1].waited > 0)
      assert.equal(errors.length, 5)
    })

    it('contain weights, modes and keys', async () => {
      const semaphore = new Semaphore(3, { diagnostics })
      ;(await semaphore.acquire(2))[1]()
      assert.deepEqual(
        heard.map(({ weight, mode }) => [weight, mode]),
        [
          [2, undefined],
          [2, undefined],
        ],
      )
      heard = []
      const lock = new RWLock({ diagnostics })
      const writer = await (await lock.acquireRead()).upgrade()
      writer.downgrade()()
      assert.deepEqual(
        heard.map(({ event, mode }) => `${event} ${mode}`),
        [
          'admit shared',
          'release shared',
          'admit exclusive',
          'release exclusive',
          'admit shared',
          'release shared',
        ],
      )
      heard = []
      const keys = new KeyedMutex({ diagnostics })
      await keys.lock(5n)
      keys.unlock(5n)
      assert.deepEqual(
        heard.map(({ kind, key }) => [kind, key]),
        [
          ['KeyedMutex', 5n],
          ['KeyedMutex', 5n],
        ],
      )
    })

    it('contain the weight and the mode of a caller that a closed lock refuses', async () => {
      const semaphore = new Semaphore(3, { diagnostics })
      const lock = new RWLock({ diagnostics })
      await Promise.all([semaphore.close(), lock.close()])
      const calls = [
        () => semaphore.acquire(),
        () => semaphore.acquire(2),
        () => semaphore.acquire({ weight: 3 }),
        () => semaphore.runExclusive(() => {}, 2),
        () => lock.acquireRead(),
        () => lock.acquireWrite(),
        () => lock.runShared(() => {}),
        () => lock.runExclusive(() => {}),
      ]
      for (const call of calls) await assert.rejects(call(), { code: 'ERR_LOCK_CLOSED' })
      assert.deepEqual(
        heard.map(({ event, weight, mode }) => [event, weight ?? mode]),
        [1, 2, 3, 2, 'shared', 'exclusive', 'shared', 'exclusive'].map((what) => ['abort', what]),
      )
    })

    it('report a death, in the thread that is told of it', async () => {
      const name = freshName()
      const mutex = new Mutex({ name, diagnostics })
      const worker = agent()
      await worker.does(`await new Mutex({ name: '${name}', diagnostics: true }).lock()`)
      assert.deepEqual(events(), [])
      const next = mutex.acquire()
      await worker.dies()
      await next
      assert.deepEqual(events(), ['wait', 'admit', 'abandoned'])
    })

    it('keep the lock consistent when their subscribers use other locks', async () => {
      const other = new Mutex({ diagnostics: false })
      let count = 0
      const meddle = () => {
        if (other.tryLock()) other.unlock()
        const late = other.lock().then(() => other.unlock())
        count++
        return late
      }
      channel('boxoffice:admit').subscribe(meddle)
      channel('boxoffice:release').subscribe(meddle)
      const lock = new RWLock({ diagnostics })
      let inside = 0
      const task = async (i) => {
        const release = await (i % 3 === 0 ? lock.acquireWrite() : lock.acquireRead())
        if (i % 3 === 0) assert.equal(inside, 0)
        inside++
        await new Promise(setImmediate)
        inside--
        if (i % 6 === 0) release.downgrade()()
        else release()
      }
      await Promise.all(Array.from({ length: 60 }, (_, i) => task(i)))
      channel('boxoffice:admit').unsubscribe(meddle)
      channel('boxoffice:release').unsubscribe(meddle)
      assert.equal(count, 140)
      assert.equal(lock.isLocked(), false)
    })
  })
}

describe('Events of unwatched locks, or without subscribers', () => {
  let heard = 0
  useSubscriber(() => heard++)

  it('are not published', async () => {
    await new Mutex({ diagnostics: false }).lock()
    assert.equal(heard, 0)
  })
})

describe('A subscriber of events', () => {
  const agent = useAgents()

  for (const diagnostics of ['counters', true]) {
    it(`may release the lock that is being released: no later holder loses it, with ${diagnostics}`, async () => {
      const known = new Set((await snapshot()).locks.map(({ id }) => id))
      const mutex = new Mutex({ diagnostics })
      await mutex.lock()
      const next = mutex.acquire()
      let isFirst = true
      const meddle = () => {
        if (isFirst) {
          isFirst = false
          mutex.unlock()
        }
      }
      channel('boxoffice:release').subscribe(meddle)
      mutex.unlock()
      channel('boxoffice:release').unsubscribe(meddle)
      const release = await next
      assert.equal(mutex.isLocked(), true)
      assert.equal(mutex.snapshot().holders.length, 1)
      const { locks } = await snapshot()
      const { holds } = locks.find(({ id }) => !known.has(id))
      assert.equal(
        holds.buckets.reduce((sum, some) => sum + some),
        1,
      )
      release()
      assert.equal(mutex.isLocked(), false)
      assert.deepEqual(mutex.snapshot().holders, [])
    })
  }

  for (const diagnostics of ['counters', true]) {
    it(`gets the end of a hold whose begin it missed, with ${diagnostics}`, async () => {
      const mutex = new Mutex({ diagnostics })
      await mutex.lock()
      const heard = []
      const subscriber = (message) => heard.push(message)
      channel('boxoffice:release').subscribe(subscriber)
      mutex.unlock()
      assert.throws(() => mutex.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
      channel('boxoffice:release').unsubscribe(subscriber)
      assert.equal(heard.length, 1)
      assert.equal(heard[0].mode, 'exclusive')
      assert.ok(heard[0].held >= 0)
    })
  }

  for (const fairness of ['bounded', 'fifo']) {
    it(`may cancel a wait of another lock that was admitted with this one: ${fairness}`, async () => {
      const names = [freshName(), freshName()]
      const step = new Int32Array(new SharedArrayBuffer(4))
      const worker = agent({ names, step })
      await worker.does(`my.both = workerData.names.map((name) => new Mutex({ name }))
        for (const mutex of my.both) mutex.lockSync()`)
      const first = new Mutex({ name: names[0], diagnostics: true })
      const second = new Mutex({ name: names[1], fairness })
      const grant = first.acquire()
      const wait = second.acquire().catch(({ code }) => code)
      const meddle = ({ name }) => name === names[0] && second.cancel()
      channel('boxoffice:admit').subscribe(meddle)
      const releases = worker.does(`for (const mutex of my.both) mutex.unlock()
        Atomics.store(workerData.step, 0, 1)
        Atomics.notify(workerData.step, 0)`)
      // This thread reads both completions at once.
      Atomics.wait(step, 0, 0)
      const release = await grant
      channel('boxoffice:admit').unsubscribe(meddle)
      assert.equal(await within(10_000, wait), 'ERR_LOCK_CANCELED')
      release()
      await releases
      ;(await second.acquire())()
    })
  }

  it('may not wait for the lock that its thread is about to block for', async () => {
    const name = freshName()
    const mutex = new Mutex({ name })
    const release = await mutex.acquire()
    const worker = agent({ name })
    const code = await worker.does(`
      const { subscribe } = require('node:diagnostics_channel')
      const mutex = new Mutex({ name: workerData.name, diagnostics: 'counters' })
      subscribe('boxoffice:wait', () => {
        if (my.isAsked) return
        my.isAsked = true
        my.grant = mutex.acquire()
      })
      return codeOf(() => mutex.lockSync({ timeout: 1000 }))`)
    assert.equal(code, 'ERR_LOCK_DEADLOCK')
    release()
    await worker.does('(await my.grant)()')
  })

  it('that throws is an uncaught exception, and the lock stays consistent', async () => {
    const { runCode } = require('../helpers/processes.js')
    const { shown, code } = await runCode(`
      process.on('uncaughtException', (error) => show(error.message))
      require('node:diagnostics_channel').subscribe('boxoffice:admit', () => { throw new Error('mine') })
      const watched = new Mutex({ diagnostics: true })
      await watched.lock()
      show(watched.isLocked())
      watched.unlock()
      await turn()`)
    assert.equal(code, 0)
    assert.deepEqual(new Set(shown), new Set([true, 'mine']))
  })

  it('gets a refused deadlock', async () => {
    const usual = deadlock.asks
    const error = Object.assign(new Error('a circle'), { code: 'ERR_LOCK_DEADLOCK' })
    const mutex = new Mutex({ diagnostics: true })
    await mutex.lock()
    const heard = []
    const subscriber = ({ reason }) => heard.push(reason)
    channel('boxoffice:deadlock').subscribe(subscriber)
    deadlock.asks = () => {
      throw error
    }
    try {
      await assert.rejects(mutex.lock(), (thrown) => thrown === error)
    } finally {
      deadlock.asks = usual
      channel('boxoffice:deadlock').unsubscribe(subscriber)
    }
    assert.deepEqual(heard, [error])
  })
})
