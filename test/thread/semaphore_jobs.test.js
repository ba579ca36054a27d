'use strict'
// semaphore.limit() and semaphore.map().
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { getEventListeners } = require('node:events')
const { Semaphore } = require('../..')

/** Jobs that wait for a command: `open` has the running ones, by item. */
function manualJobs() {
  const open = new Map()
  const begun = []
  let most = 0
  const work = (item, job) =>
    new Promise((resolve, reject) => {
      begun.push(item)
      open.set(item, { resolve, reject, ...job })
      most = Math.max(most, open.size)
    }).finally(() => open.delete(item))
  return { open, begun, work, most: () => most }
}

const turns = () => new Promise(setImmediate)

describe('semaphore.limit()', () => {
  it('runs as many calls at a time as there are units', async () => {
    const semaphore = new Semaphore(2)
    const { open, begun, work, most } = manualJobs()
    const limited = semaphore.limit(work)
    const all = ['a', 'b', 'c'].map((item) => limited(item))
    await turns()
    assert.deepEqual(begun, ['a', 'b'])
    open.get('a').resolve(1)
    await turns()
    assert.deepEqual(begun, ['a', 'b', 'c'])
    open.get('b').resolve(2)
    open.get('c').resolve(3)
    assert.deepEqual(await Promise.all(all), [1, 2, 3])
    assert.equal(most(), 2)
    assert.equal(semaphore.getValue(), 2)
  })

  it("passes this and the arguments, and rejects with the function's error", async () => {
    const owner = {
      half(number) {
        if (number % 2) throw new RangeError(`${number} is odd`)
        return [this, number / 2]
      },
    }
    const semaphore = new Semaphore(1)
    owner.limited = semaphore.limit(owner.half)
    assert.deepEqual(await owner.limited(4), [owner, 2])
    await assert.rejects(owner.limited(3), { name: 'RangeError', message: '3 is odd' })
    assert.equal(semaphore.getValue(), 1)
  })

  it('takes the options of a wait for each call', async () => {
    const semaphore = new Semaphore(3)
    const limited = semaphore.limit(() => semaphore.getValue(), { weight: 2, timeout: 0 })
    assert.equal(await limited(), 1)
    const [, release] = await semaphore.acquire(2)
    await assert.rejects(limited(), { code: 'ERR_LOCK_TIMEOUT' })
    release()
  })

  it("completes each call's options by the defaults of the constructor", async () => {
    const semaphore = new Semaphore(1, { timeout: 0 })
    const [, release] = await semaphore.acquire()
    await assert.rejects(semaphore.limit(() => {})(), { code: 'ERR_LOCK_TIMEOUT' })
    release()
  })

  it("runs each call in its caller's async context", async () => {
    const caller = new AsyncLocalStorage()
    const limited = new Semaphore(1).limit(async () => caller.getStore())
    const all = ['a', 'b', 'c'].map((name) => caller.run(name, () => limited()))
    assert.deepEqual(await Promise.all(all), ['a', 'b', 'c'])
  })

  it('lets its calls be seen by diagnostics while they run', async () => {
    const semaphore = new Semaphore(2, { diagnostics: true })
    const limited = semaphore.limit(() => semaphore.snapshot().holders.length, { weight: 2 })
    assert.equal(await limited(), 1)
    assert.deepEqual(semaphore.snapshot().holders, [])
    assert.equal(semaphore.getValue(), 2)
  })

  it('refuses calls of a semaphore that has been closed', async () => {
    const semaphore = new Semaphore(1)
    const limited = semaphore.limit(() => {})
    await semaphore.close()
    await assert.rejects(limited(), { code: 'ERR_LOCK_CLOSED' })
  })

  it('throws for invalid input at once', () => {
    const semaphore = new Semaphore(1)
    assert.throws(() => semaphore.limit(), TypeError)
    for (const argument of [2, 'ada', null, () => {}]) {
      const message = 'limit(fn) returns a function: pass the arguments to it'
      assert.throws(() => semaphore.limit(() => {}, argument), { name: 'TypeError', message })
    }
    assert.throws(() => semaphore.limit(() => {}, { weight: 0 }), RangeError)
    assert.throws(() => Semaphore.prototype.limit.call({}, () => {}), TypeError)
  })
})

describe('semaphore.map()', () => {
  it('gives the results in the order of the items', async () => {
    const semaphore = new Semaphore(2)
    const { open, begun, work, most } = manualJobs()
    const done = semaphore.map(new Set(['a', 'b', 'c']), work)
    await turns()
    assert.deepEqual(begun, ['a', 'b'])
    open.get('b').resolve(2)
    await turns()
    open.get('c').resolve(3)
    await turns()
    open.get('a').resolve(1)
    assert.deepEqual(await done, [1, 2, 3])
    assert.equal(most(), 2)
    assert.equal(semaphore.getValue(), 2)
  })

  it('tells a job its index, and waits for items that are promises', async () => {
    const items = [Promise.resolve('a'), 'b']
    const got = await new Semaphore(1).map(items, (item, { index }) => item + index)
    assert.deepEqual(got, ['a0', 'b1'])
  })

  it('calls a job without a receiver', async () => {
    const receivers = await new Semaphore(1).map([1], function () {
      return this
    })
    assert.deepEqual(receivers, [undefined])
  })

  it('has a signal that any number of jobs may listen to', async () => {
    const warned = []
    const onWarning = ({ name }) => warned.push(name)
    process.on('warning', onWarning)
    const items = Array.from({ length: 20 }, (_, i) => i)
    await new Semaphore(20).map(items, (_, { signal }) => {
      signal.addEventListener('abort', () => {})
      return new Promise(setImmediate)
    })
    process.off('warning', onWarning)
    assert.deepEqual(warned, [])
  })

  it('works where AbortController is a polyfill', async () => {
    const { AbortController } = globalThis
    const signal = { aborted: false, addEventListener() {}, removeEventListener() {} }
    globalThis.AbortController = class {
      signal = signal
    }
    try {
      assert.deepEqual(await new Semaphore(1).map([1, 2], (n) => n + 1), [2, 3])
    } finally {
      globalThis.AbortController = AbortController
    }
  })

  it('adds no listener to a signal for each item', async () => {
    const { addEventListener } = EventTarget.prototype
    let added = 0
    EventTarget.prototype.addEventListener = function (...args) {
      added++
      return addEventListener.apply(this, args)
    }
    try {
      const { signal } = new AbortController()
      await new Semaphore(2).map(Array(100).fill('a'), () => turns(), { signal })
    } finally {
      EventTarget.prototype.addEventListener = addEventListener
    }
    assert.ok(added <= 2, `${added} listeners`)
  })

  it('rejects with ERR_LOCK_CLOSED where the semaphore has been closed, and closes the iterable', async () => {
    const semaphore = new Semaphore(1)
    await semaphore.close()
    let isClosed = false
    function* items() {
      try {
        yield 'a'
      } finally {
        isClosed = true
      }
    }
    await assert.rejects(
      semaphore.map(items(), () => {}),
      { code: 'ERR_LOCK_CLOSED' },
    )
    assert.equal(isClosed, true)
  })

  it('rejects, and does not hang, where setValue() has left no room for the units', async () => {
    const semaphore = new Semaphore(2)
    const raised = semaphore.map([1, 2, 3], async () => {
      await null
      semaphore.setValue(2 ** 29 - 1)
    })
    await assert.rejects(raised, { code: 'ERR_LOCK_RANGE' })
  })

  it('resolves to [] without items', async () => {
    assert.deepEqual(await new Semaphore(1).map([], assert.fail), [])
  })

  it('reads an async iterable one item ahead of the jobs', async () => {
    const semaphore = new Semaphore(1)
    const { open, work } = manualJobs()
    let read = 0
    async function* items() {
      while (read < 5) yield read++
    }
    const done = semaphore.map(items(), work)
    await turns()
    assert.equal(read, 2)
    for (let item = 0; item < 5; item++) {
      open.get(item).resolve(item * 10)
      await turns()
    }
    assert.deepEqual(await done, [0, 10, 20, 30, 40])
  })

  it('holds no unit while the iterable makes its next item', async () => {
    const semaphore = new Semaphore(1)
    let give
    async function* items() {
      yield await new Promise((resolve) => (give = resolve))
    }
    const done = semaphore.map(items(), (item) => item)
    await turns()
    assert.equal(semaphore.getValue(), 1)
    give('late')
    assert.deepEqual(await done, ['late'])
  })

  it('shares its units with other callers', async () => {
    const semaphore = new Semaphore(1)
    const [, release] = await semaphore.acquire()
    const { begun, open, work } = manualJobs()
    const done = semaphore.map(['a'], work)
    await turns()
    assert.deepEqual(begun, [])
    release()
    await turns()
    open.get('a').resolve()
    await done
  })
})

describe('the first failure of semaphore.map()', () => {
  it('aborts the running jobs, begins no other, and waits until they have ended', async () => {
    const semaphore = new Semaphore(2)
    const { open, begun, work } = manualJobs()
    let isOver = false
    const done = semaphore.map(['a', 'b', 'c'], work)
    const over = done.catch(() => {}).then(() => (isOver = true))
    await turns()
    const { signal, resolve } = open.get('b')
    open.get('a').reject(new Error('no such user'))
    await turns()
    assert.equal(signal.aborted, true)
    assert.equal(signal.reason.message, 'no such user')
    assert.equal(isOver, false)
    resolve()
    await over
    await assert.rejects(done, { message: 'no such user' })
    assert.deepEqual(begun, ['a', 'b'])
    assert.equal(semaphore.getValue(), 2)
    assert.equal(semaphore.snapshot().waiting, 0)
  })

  it('may come from the signal, which is left without a listener', async () => {
    const semaphore = new Semaphore(1)
    const controller = new AbortController()
    const { open, work } = manualJobs()
    const done = semaphore.map(['a', 'b'], work, { signal: controller.signal })
    await turns()
    assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
    controller.abort(new Error('shutting down'))
    assert.equal(open.get('a').signal.aborted, true)
    open.get('a').resolve()
    await assert.rejects(done, { message: 'shutting down' })
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
    assert.equal(semaphore.getValue(), 1)
  })

  it('may come from cancel()', async () => {
    const semaphore = new Semaphore(1)
    const { open, work } = manualJobs()
    const done = semaphore.map(['a', 'b'], work)
    await turns()
    semaphore.cancel()
    await turns()
    open.get('a').resolve()
    await assert.rejects(done, { code: 'ERR_LOCK_CANCELED' })
  })

  it('may come from the iterable, which is not closed then', async () => {
    let isClosed = false
    const broken = {
      [Symbol.iterator]: () => ({
        next() {
          throw new Error('the file has ended')
        },
        return() {
          isClosed = true
          return {}
        },
      }),
    }
    await assert.rejects(new Semaphore(1).map(broken, assert.fail), {
      message: 'the file has ended',
    })
    assert.equal(isClosed, false)
  })

  it('closes the iterable, and takes precedence over an error of closing it', async () => {
    let isClosed = false
    async function* items() {
      try {
        yield 'a'
        yield 'b'
      } finally {
        isClosed = true
        // biome-ignore lint/correctness/noUnsafeFinally: tests an iterable that fails to close
        throw new Error('cannot close')
      }
    }
    const failing = () => Promise.reject(new Error('no such user'))
    await assert.rejects(new Semaphore(1).map(items(), failing), { message: 'no such user' })
    assert.equal(isClosed, true)
  })

  it('does not wait for an item that never comes', async () => {
    async function* items() {
      yield 'a'
      await new Promise(() => {})
    }
    const failing = () => Promise.reject(new Error('no such user'))
    await assert.rejects(new Semaphore(1).map(items(), failing), { message: 'no such user' })
  })

  it('begins no job from then on, even with units that came before', async () => {
    const late = []
    for (let microtasks = 0; microtasks < 12; microtasks++) {
      const semaphore = new Semaphore(2)
      const done = semaphore.map(['a', 'b', 'c'], async (item, { signal }) => {
        if (signal.aborted) late.push(item)
        if (item !== 'a') return
        for (let i = 0; i < microtasks; i++) await null
        throw new Error('no a')
      })
      await assert.rejects(done, { message: 'no a' })
      assert.equal(semaphore.getValue(), 2)
    }
    assert.deepEqual(late, [])
  })

  it("is the rejection's reason, of any type", async () => {
    const failing = () => Promise.reject(undefined)
    const ended = new Semaphore(1).map(['a'], failing).then(
      () => 'resolved',
      (reason) => [reason],
    )
    assert.deepEqual(await ended, [undefined])
  })

  it('waits for its units where others are refused', async () => {
    const semaphore = new Semaphore(1, { maxPending: 0 })
    const [, release] = await semaphore.acquire()
    const results = semaphore.map([1, 2, 3], (item) => item)
    await turns()
    await assert.rejects(semaphore.acquire(), { code: 'ERR_LOCK_QUEUE_FULL' })
    release()
    assert.deepEqual(await results, [1, 2, 3])
  })

  it('may come from an iterator that breaks the rules of iterators', async () => {
    const semaphore = new Semaphore(1)
    const map = (key, iterator) => semaphore.map({ [key]: () => iterator }, assert.fail)
    for (const key of [Symbol.iterator, Symbol.asyncIterator]) {
      for (const iterator of [undefined, 5, {}, { next: 5 }]) {
        await assert.rejects(map(key, iterator), /^TypeError: map\(\) takes an iterable/)
      }
      // Without a result that is an object, the iteration would never end.
      for (const result of [undefined, null, 5, 'done']) {
        const end = new Error('it went on')
        const results = [result]
        const next = () => {
          if (results.length === 0) throw end
          return results.pop()
        }
        await assert.rejects(map(key, { next }), /^TypeError: map\(\): next\(\) of the iterator/)
      }
    }
    assert.equal(semaphore.getValue(), 1)
  })

  it('reads its options once, inherited ones too', async () => {
    const semaphore = new Semaphore(2)
    const options = Object.create({ weight: 2 })
    const values = await semaphore.map([1, 2], () => semaphore.getValue(), options)
    assert.deepEqual(values, [0, 0])
  })

  it('may be invalid input', async () => {
    const semaphore = new Semaphore(1)
    await assert.rejects(
      semaphore.map(5, () => {}),
      /map\(\) takes an iterable/,
    )
    const { signal } = new AbortController()
    await assert.rejects(
      semaphore.map(5, () => {}, { signal }),
      TypeError,
    )
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    await assert.rejects(semaphore.map([1]), TypeError)
    await assert.rejects(
      semaphore.map([1], () => {}, 2),
      TypeError,
    )
    await assert.rejects(
      semaphore.map([1], () => {}, { concurrency: 2 }),
      /unknown option/,
    )
    assert.throws(() => Semaphore.prototype.map.call({}, [], () => {}), TypeError)
    assert.equal(semaphore.getValue(), 1)
  })
})
