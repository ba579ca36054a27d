'use strict'
// A RecursiveMutex entered by a blocking thread, and several objects for one mutex.
const assert = require('node:assert/strict')
const { AsyncResource } = require('node:async_hooks')
const { Mutex, RecursiveMutex } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { outcome, settled } = require('../helpers/keyed.js')

const blocking = { allowBlockingMainThread: true }
const boom = new Error('boom')

describe('RecursiveMutex.runExclusiveSync', () => {
  let mutex
  beforeEach(() => {
    mutex = new RecursiveMutex(blocking)
  })
  afterEach(async () => {
    assert.equal(mutex.isHeld(), false)
    assert.equal(await mutex.runExclusive(() => 'in', { timeout: 8000 }), 'in')
    assert.equal(mutex.isLocked(), false)
  })
  const busy = (action) => assert.throws(action, { code: 'ERR_LOCK_DEADLOCK' })

  it("returns the callback's result, and holds it meanwhile", () => {
    const inside = () => [mutex.isLocked(), mutex.isHeld()]
    assert.deepEqual(mutex.runExclusiveSync(inside), [true, true])
    assert.deepEqual(inside(), [false, false])
  })

  it('enters again in one thread, at any depth', () => {
    const depth = (n) => mutex.runExclusiveSync(() => (n === 0 ? 'bottom' : depth(n - 1)))
    assert.equal(depth(1000), 'bottom')
  })

  it('is held until the outermost hold ends', () => {
    mutex.runExclusiveSync(() => {
      mutex.runExclusiveSync(() => {})
      assert.equal(mutex.isLocked(), true)
      assert.equal(mutex.isHeld(), true)
    })
  })

  it('releases when a callback throws, at each depth', () => {
    const fail = () => {
      throw boom
    }
    mutex.runExclusiveSync(() => {
      assert.throws(() => mutex.runExclusiveSync(fail), boom)
      mutex.runExclusiveSync(() => {})
    })
    assert.throws(() => mutex.runExclusiveSync(() => mutex.runExclusiveSync(fail)), boom)
  })

  it('releases when a recursion overflows the stack', () => {
    const endless = () => mutex.runExclusiveSync(endless)
    assert.throws(endless, RangeError)
  })

  it('is entered again by all code on its stack, also in the context of another hold', () => {
    const elsewhere = AsyncResource.bind(() => {
      assert.equal(mutex.isHeld(), true)
      return mutex.runExclusiveSync(() => 'in')
    })
    assert.equal(mutex.runExclusiveSync(elsewhere), 'in')
  })

  it('enters again inside runExclusive, and the other way round', async () => {
    const results = await mutex.runExclusive(async () => {
      const first = mutex.runExclusiveSync(() => mutex.runExclusiveSync(() => 1))
      await settled()
      return [first, mutex.runExclusiveSync(() => 2)]
    })
    assert.deepEqual(results, [1, 2])
    const nested = mutex.runExclusiveSync(() => mutex.runExclusive(() => 'in'))
    assert.equal(mutex.isLocked(), true) // for the caller about to enter
    assert.equal(await nested, 'in')
  })

  it('keeps the lock for code that the callback has started, and for no later caller', async () => {
    const log = []
    let late
    const started = mutex.runExclusiveSync(() => {
      late = (async () => {
        await settled()
        assert.equal(mutex.isHeld(), false)
        await mutex.runExclusive(() => log.push('late'))
      })()
      return mutex.runExclusive(async () => {
        await settled()
        await settled()
        log.push('started')
      })
    })
    const stranger = mutex.runExclusive(() => log.push('stranger'))
    await Promise.all([started, stranger, late])
    assert.deepEqual(log, ['started', 'stranger', 'late'])
  })

  it('refuses to wait for its own thread: from outside its hold', async () => {
    const running = mutex.runExclusive(settled)
    assert.throws(() => mutex.runExclusiveSync(() => {}), {
      code: 'ERR_LOCK_DEADLOCK',
      message: /^the recursive mutex is already held by this thread/,
    })
    await running
  })

  it('refuses to wait for its own thread: from a sibling', async () => {
    await mutex.runExclusive(async () => {
      const sibling = mutex.runExclusive(settled)
      busy(() => mutex.runExclusiveSync(() => {}))
      await sibling
      mutex.runExclusiveSync(() => {})
    })
  })

  it('refuses to wait for code that its callback has started', async () => {
    const started = mutex.runExclusiveSync(() => mutex.runExclusive(settled))
    busy(() => mutex.runExclusiveSync(() => {}))
    await started
  })

  it('is for workers, and for threads that may block, even if it need not block', async () => {
    const other = new RecursiveMutex()
    const error = { name: 'TypeError', message: /^runExclusiveSync\(\) would block/ }
    assert.throws(() => other.runExclusiveSync(() => {}), error)
    await other.runExclusive(() => assert.throws(() => other.runExclusiveSync(() => {}), error))
  })

  for (const [args, error] of [
    [[undefined], TypeError],
    [[() => {}, null], TypeError],
    [[() => {}, { timeout: '1' }], TypeError],
    [[() => {}, { timeout: NaN }], RangeError],
    [[() => {}, { signal: new AbortController().signal }], TypeError],
  ]) {
    it(`throws for ${JSON.stringify(args)}, and leaves nothing locked`, async () => {
      const wrong = () => assert.throws(() => mutex.runExclusiveSync(...args), error)
      wrong()
      mutex.runExclusiveSync(wrong)
      await mutex.runExclusive(wrong)
    })
  }
})

describe('objects for one RecursiveMutex', () => {
  const pairs = {
    'by name': () => {
      const name = freshName()
      return [new RecursiveMutex({ name, ...blocking }), new RecursiveMutex({ name, ...blocking })]
    },
    'by memory': () => {
      const first = new RecursiveMutex({ ...blocking, shared: true })
      return [first, new RecursiveMutex({ buffer: first.buffer, ...blocking })]
    },
  }
  for (const [how, make] of Object.entries(pairs)) {
    it(`${how}: enter again through each other`, async () => {
      const [first, second] = make()
      await first.runExclusive(async () => {
        assert.equal(second.isHeld(), true)
        await second.runExclusive(() => first.runExclusive(() => {}))
        second.runExclusiveSync(() => first.runExclusiveSync(() => {}))
      })
      first.runExclusiveSync(() => second.runExclusiveSync(() => first.runExclusiveSync(() => {})))
      assert.equal(second.isLocked(), false)
    })

    it(`${how}: cancel callers inside each other`, async () => {
      const [first, second] = make()
      await first.runExclusive(async () => {
        const child = first.runExclusive(settled)
        const sibling = outcome(second.runExclusive(() => {}))
        second.cancel(boom)
        await child
        assert.equal(sibling.reason, boom)
      })
    })
  }

  it('by memory, made while it is held and awaited', async () => {
    const first = new RecursiveMutex({ ...blocking, shared: true })
    let stranger
    await first.runExclusive(async () => {
      const child = first.runExclusive(settled)
      const sibling = first.runExclusive(settled)
      await settled()
      const second = new RecursiveMutex({ buffer: first.buffer })
      assert.equal(first.byteOffset, 0)
      assert.equal(second.isHeld(), true)
      assert.equal(second.isLocked(), true)
      await second.runExclusive(() => {})
      await Promise.all([child, sibling])
      stranger = outcome(AsyncResource.bind(() => second.runExclusive(() => 'stranger'))())
    })
    await settled()
    assert.equal(stranger.state, 'fulfilled')
    assert.equal(first.isLocked(), false)
  })

  it('are a different lock from a Mutex of that name', async () => {
    const name = freshName()
    const mutex = new Mutex({ name })
    await new RecursiveMutex({ name }).runExclusive(() => assert.equal(mutex.isLocked(), false))
    const recursive = new RecursiveMutex({ name, ...blocking })
    await recursive.runExclusive(async () => {
      const title = {
        message: `the recursive mutex ${JSON.stringify(name)} was not available within 0 ms`,
      }
      const child = recursive.runExclusive(settled)
      await assert.rejects(
        recursive.runExclusive(() => {}, { timeout: 0 }),
        title,
      )
      await child
    })
  })

  it('do not release the grant of a Mutex in their memory that has ended theirs', async () => {
    const recursive = new RecursiveMutex({ shared: true })
    const plain = new Mutex({ buffer: recursive.buffer })
    await recursive.runExclusive(async () => {
      plain.unlock()
      await plain.lock()
    })
    assert.equal(plain.isLocked(), true)
    plain.unlock()
  })
})
