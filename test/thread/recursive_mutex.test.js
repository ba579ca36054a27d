'use strict'
// A RecursiveMutex in one thread, without blocking: its holder, and how long it is held.
const assert = require('node:assert/strict')
const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
const { EventEmitter } = require('node:events')
const { E_CANCELED, RecursiveMutex } = require('../..')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')

const boom = new Error('boom')

/** A promise, and the function that resolves it. */
function gate() {
  let open
  const opened = new Promise((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** A later caller is admitted, and no caller is left inside. */
async function assertIdle(mutex) {
  assert.equal(mutex.isLocked(), false)
  assert.equal(mutex.isHeld(), false)
  assert.equal(await mutex.runExclusive(() => 'in', { timeout: 8000 }), 'in')
  assert.equal(mutex.isLocked(), false)
}

describe('RecursiveMutex', () => {
  let mutex
  let log
  beforeEach(() => {
    mutex = new RecursiveMutex()
    log = []
  })
  afterEach(() => assertIdle(mutex))

  /**
   * Enters for some turns, and records its entry and exit; it must be alone, except for the holds
   * around it.
   */
  let inside = 0
  const visit = (name, options) =>
    mutex.runExclusive(async () => {
      assert.equal(inside++, 0, `oracle: ${name} is not alone`)
      log.push(`${name} in`)
      await settled()
      log.push(`${name} out`)
      inside--
    }, options)

  describe('the same chain of calls', () => {
    it('enters again, at once, at any depth', async () => {
      const depth = (n) => mutex.runExclusive(() => (n === 0 ? 'bottom' : depth(n - 1)))
      assert.equal(await depth(3), 'bottom')
      assert.equal(await depth(10_000), 'bottom')
    })

    it('enters again by executeLocked', async () => {
      assert.equal(await mutex.executeLocked(() => mutex.executeLocked(() => 'in')), 'in')
    })

    it('enters again after an await, a timer, a listener, a promise that another chain resolves', async () => {
      const emitter = new EventEmitter()
      const { open, opened } = gate()
      const running = mutex.runExclusive(async () => {
        await settled()
        await visit('awaited')
        await new Promise((resolve) => setTimeout(() => visit('timer').then(resolve), 1))
        emitter.on('event', () => visit('listener'))
        emitter.emit('event')
        await opened
        await visit('opened')
      })
      await settled()
      setTimeout(open, 5)
      await running
      assert.equal(log.length, 8)
    })

    it("is the chain of a listener's caller, not of the code that added the listener", async () => {
      const emitter = new EventEmitter()
      const seen = []
      emitter.on('event', () => seen.push(mutex.isHeld()))
      emitter.on(
        'event',
        AsyncResource.bind(() => seen.push(mutex.isHeld())),
      )
      await mutex.runExclusive(() => emitter.emit('event'))
      assert.deepEqual(seen, [true, false])
    })

    it('keeps all others out while it has entered again', async () => {
      const order = []
      const first = mutex.runExclusive(async () => {
        await mutex.runExclusive(settled)
        order.push('nested is through')
        await settled()
        order.push('first')
      })
      const second = mutex.runExclusive(() => order.push('second'))
      await Promise.all([first, second])
      assert.deepEqual(order, ['nested is through', 'first', 'second'])
    })

    it('enters again when a callback inside has thrown', async () => {
      await mutex.runExclusive(async () => {
        await assert.rejects(
          mutex.runExclusive(() => {
            throw boom
          }),
          boom,
        )
        await assert.rejects(
          mutex.runExclusive(() => mutex.runExclusive(() => Promise.reject(boom))),
          boom,
        )
        assert.equal(mutex.isHeld(), true)
        await visit('again')
      })
    })

    it('includes a thenable, which is resolved inside', async () => {
      const lazy = {
        // biome-ignore lint/suspicious/noThenProperty: as query builders do it
        then(resolve, reject) {
          assert.equal(mutex.isHeld(), true)
          mutex.runExclusive(() => 'queried').then(resolve, reject)
        },
      }
      assert.equal(await mutex.runExclusive(() => lazy), 'queried')
    })
  })

  describe('siblings', () => {
    const order = ['a in', 'a out', 'b in', 'b out', 'c in', 'c out']

    it('started from inside take turns, first come, first served', async () => {
      await mutex.runExclusive(() => Promise.all([visit('a'), visit('b'), visit('c')]))
      assert.deepEqual(log, order)
    })

    it('take turns at every depth, and each may enter again', async () => {
      let most = 0
      let now = 0
      const tree = (depth) =>
        mutex.runExclusive(async () => {
          if (depth === 0) {
            most = Math.max(most, ++now)
            await settled()
            now--
            return 1
          }
          const [a, b] = await Promise.all([tree(depth - 1), tree(depth - 1)])
          return a + b
        })
      assert.equal(await tree(5), 32)
      assert.equal(most, 1)
    })

    it('go ahead of other chains that came first', async () => {
      const first = mutex.runExclusive(async () => {
        await settled()
        await Promise.all([visit('a'), visit('b'), visit('c')])
        log.push('first')
      })
      await Promise.all([first, visit('stranger')])
      assert.deepEqual(log, [...order, 'first', 'stranger in', 'stranger out'])
    })

    it('are admitted by priority, with limits of their own', async () => {
      await mutex.runExclusive(async () => {
        const holder = visit('holder')
        const late = outcome(visit('late', { timeout: 0 }))
        const low = visit('low', 0)
        const high = visit('high', { priority: 1 })
        const controller = new AbortController()
        const aborted = outcome(visit('aborted', { signal: controller.signal }))
        const timed = outcome(visit('timed', { timeout: 1 }))
        controller.abort(boom)
        // Blocks the loop, so that no caller is admitted before the timer.
        for (const end = performance.now() + 5; performance.now() < end; );
        await Promise.all([holder, high, low])
        assert.equal(late.reason.code, 'ERR_LOCK_TIMEOUT')
        assert.equal(late.reason.message, 'the recursive mutex was not available within 0 ms')
        assert.equal(timed.reason.code, 'ERR_LOCK_TIMEOUT')
        assert.equal(aborted.reason, boom)
      })
      assert.deepEqual(log, ['holder in', 'holder out', 'high in', 'high out', 'low in', 'low out'])
    })

    it('without a common hold are independent', async () => {
      await Promise.all([visit('a'), visit('b'), visit('c')])
      assert.deepEqual(log, order)
    })
  })

  describe('a hold that ends', () => {
    it('before its children keeps the lock until the last child has ended', async () => {
      let started
      const first = mutex.runExclusive(() => {
        started = [visit('a'), visit('b')]
        return 'ended'
      })
      const stranger = visit('stranger')
      assert.equal(await first, 'ended')
      assert.deepEqual(log, ['a in'])
      await Promise.all([...started, stranger])
      assert.deepEqual(log, [
        ...['a in', 'a out', 'b in', 'b out'],
        ...['stranger in', 'stranger out'],
      ])
    })

    it('no longer counts for callers that it has started, even if they come while others hold it', async () => {
      const { open, opened } = gate()
      let late
      let early
      await mutex.runExclusive(() => {
        early = visit('early')
        late = opened.then(() => {
          assert.equal(mutex.isHeld(), false)
          assert.equal(mutex.isLocked(), true)
          return visit('late')
        })
      })
      const stranger = visit('stranger')
      open()
      await Promise.all([early, late, stranger])
      assert.deepEqual(log, [
        ...['early in', 'early out'],
        ...['stranger in', 'stranger out'],
        ...['late in', 'late out'],
      ])
    })

    it('leaves the callers that it has started to the hold around it', async () => {
      let late
      const { open, opened } = gate()
      const stranger = gate()
      await mutex.runExclusive(async () => {
        await mutex.runExclusive(() => {
          late = opened.then(() => {
            assert.equal(mutex.isHeld(), true)
            return visit('late')
          })
        })
        stranger.open(outcome(visit('sibling')))
        open()
        await late
        log.push('outer')
      })
      assert.deepEqual(log, ['sibling in', 'sibling out', 'late in', 'late out', 'outer'])
    })

    it('by throwing keeps the lock for its children, too', async () => {
      let started
      const first = mutex.runExclusive(() => {
        started = visit('started')
        throw boom
      })
      const stranger = visit('stranger')
      await assert.rejects(first, boom)
      await Promise.all([started, stranger])
      assert.deepEqual(log, ['started in', 'started out', 'stranger in', 'stranger out'])
    })

    it('waits for nested callers of nested callers, however many', async () => {
      const { open, opened } = gate()
      const relay = (n) => {
        if (n === 0) return mutex.runExclusive(() => opened)
        mutex.runExclusive(() => {
          relay(n - 1)
        })
      }
      relay(10_000)
      const stranger = outcome(visit('stranger'))
      await settled()
      await settled()
      assert.equal(stranger.state, 'pending')
      open()
      await settled()
      await settled()
      assert.equal(stranger.state, 'fulfilled')
    })

    it('does not wait for nested callers that have given up', async () => {
      const controller = new AbortController()
      const { open, opened } = gate()
      const inner = []
      await mutex.runExclusive(() => {
        inner.push(mutex.runExclusive(() => opened))
        inner.push(outcome(visit('aborted', { signal: controller.signal })))
        inner.push(outcome(visit('late', { timeout: 1 })))
      })
      const stranger = visit('stranger')
      controller.abort(boom)
      await new Promise((resolve) => setTimeout(resolve, 5))
      assert.equal(inner[1].reason, boom)
      assert.equal(inner[2].reason.code, 'ERR_LOCK_TIMEOUT')
      open()
      await stranger
      assert.deepEqual(log, ['stranger in', 'stranger out'])
    })

    for (let microtasks = 0; microtasks < 12; microtasks++) {
      it(`while a nested caller comes, ${microtasks} microtasks later`, async () => {
        let started
        const first = mutex.runExclusive(() => {
          started = (async () => {
            for (let i = 0; i < microtasks; i++) await null
            return visit('started')
          })()
        })
        const strangers = [visit('stranger'), visit('another')]
        await first
        await Promise.all([started, ...strangers])
        assert.equal(log.length, 6)
      })
    }
  })

  describe('the context', () => {
    it('of the caller is restored, also after an error', async () => {
      await mutex.runExclusive(() => {})
      assert.equal(mutex.isHeld(), false)
      await mutex.runExclusive(() => Promise.reject(boom)).catch(() => {})
      assert.equal(mutex.isHeld(), false)
      const running = mutex.runExclusive(settled)
      assert.equal(mutex.isHeld(), false)
      assert.equal(mutex.isLocked(), true)
      await running
    })

    it('of other storages is unaffected, inside and outside', async () => {
      const storage = new AsyncLocalStorage()
      const holder = visit('holder')
      const within = (name) =>
        storage.run(name, async () => {
          const seen = await mutex.runExclusive(async () => {
            const before = storage.getStore()
            await mutex.runExclusive(() => assert.equal(storage.getStore(), name))
            return [before, storage.getStore()]
          })
          return [...seen, storage.getStore()]
        })
      assert.deepEqual(await Promise.all([within('a'), within('b')]), [
        ['a', 'a', 'a'],
        ['b', 'b', 'b'],
      ])
      await holder
    })

    it('has the holds of several mutexes, nested in any order', async () => {
      const other = new RecursiveMutex()
      const third = new RecursiveMutex()
      await mutex.runExclusive(() =>
        other.runExclusive(async () => {
          await visit('in both')
          await other.runExclusive(() => mutex.runExclusive(() => other.runExclusive(() => {})))
          assert.deepEqual([mutex.isHeld(), other.isHeld(), third.isHeld()], [true, true, false])
        }),
      )
      await assertIdle(other)
    })

    it('keeps no ended hold: a chain may go on for ever', async function () {
      this.timeout(60_000)
      // Each hold is of another mutex, entered inside the one before, which it outlives.
      const [{ objects, buffers }] = await inChild(
        `const { RecursiveMutex } = require(entry)
        const mutexes = Array.from({ length: 3 }, () => new RecursiveMutex())
        const chain = (length) => new Promise((end) => {
          const step = (left) => mutexes[left % 3].runExclusive(async () => {
            await turn()
            if (left === 0) end()
            else step(left - 1)
            await turn()
          })
          step(length)
        })
        show(await growth(() => chain(20_000), { objects: 1000, buffers: 2 ** 19 }))`,
        '--expose-gc',
      )
      assert.ok(objects <= 1000, `${objects} objects more`)
      assert.ok(buffers <= 2 ** 19, `${buffers} bytes more`)
    })
  })

  describe('cancel', () => {
    it('rejects every waiter, nested or not, and leaves holders alone', async () => {
      const { open, opened } = gate()
      const waiting = []
      const first = mutex.runExclusive(async () => {
        const child = mutex.runExclusive(async () => {
          const grandchild = mutex.runExclusive(() => opened)
          waiting.push(outcome(visit('inside the child')))
          await grandchild
          await visit('again')
        })
        waiting.push(outcome(visit('inside')))
        await child
        return 'through'
      })
      waiting.push(outcome(visit('stranger')))
      await settled()
      mutex.cancel()
      await settled()
      assert.deepEqual(
        waiting.map(({ reason }) => reason),
        [E_CANCELED, E_CANCELED, E_CANCELED],
      )
      open()
      assert.equal(await first, 'through')
      assert.deepEqual(log, ['again in', 'again out'])
    })

    for (const reason of [boom, null]) {
      it(`from inside, with the reason ${reason}`, async () => {
        await mutex.runExclusive(async () => {
          const child = visit('child')
          const sibling = outcome(visit('sibling'))
          mutex.cancel(reason)
          await child
          assert.equal(sibling.state, 'rejected')
          assert.equal(sibling.reason, reason)
          await visit('after')
        })
      })
    }

    it('rejects with the error of the constructor', async () => {
      const other = new RecursiveMutex({ cancelError: boom })
      await other.runExclusive(async () => {
        const child = other.runExclusive(settled)
        const sibling = outcome(other.runExclusive(() => {}))
        other.cancel()
        await child
        assert.equal(sibling.reason, boom)
      })
    })

    it('ends a closed hold when all nested waiters are gone', async () => {
      const { open, opened } = gate()
      let sibling
      await mutex.runExclusive(() => {
        mutex.runExclusive(() => opened)
        sibling = outcome(visit('sibling'))
      })
      mutex.cancel()
      open()
      await settled()
      assert.equal(sibling.reason, E_CANCELED)
    })
  })

  describe('its input', () => {
    for (const [args, error] of [
      [[undefined], TypeError],
      [['callback'], TypeError],
      [[() => {}, null], TypeError],
      [[() => {}, { priority: '1' }], TypeError],
      [[() => {}, { priority: NaN }], RangeError],
      [[() => {}, { timeout: -1 }], RangeError],
      [[() => {}, { signal: {} }], TypeError],
    ]) {
      it(`rejects ${JSON.stringify(args)}, and nothing stays locked, outside or inside`, async () => {
        await assert.rejects(mutex.runExclusive(...args), error)
        await mutex.runExclusive(async () => {
          await assert.rejects(mutex.runExclusive(...args), error)
          await visit('again')
        })
      })
    }

    it('rejects with the reason of a signal that is aborted already', async () => {
      const signal = AbortSignal.abort(boom)
      await assert.rejects(
        mutex.runExclusive(() => {}, { signal }),
        boom,
      )
      await mutex.runExclusive(() =>
        assert.rejects(
          mutex.runExclusive(() => {}, { signal }),
          boom,
        ),
      )
    })

    it('throws for options of the constructor as a Mutex does', () => {
      for (const bad of [null, 7, { name: 7 }, { buffer: 4 }, { fairness: 'none' }]) {
        assert.throws(() => new RecursiveMutex(bad), TypeError)
      }
      const buffer = new SharedArrayBuffer(4)
      assert.throws(() => new RecursiveMutex({ buffer, byteOffset: 4 }), RangeError)
      assert.throws(() => RecursiveMutex(), TypeError)
      assert.throws(() => RecursiveMutex.prototype.isHeld.call({}), TypeError)
    })

    it('never calls back before it returns, inside or outside', async () => {
      await mutex.runExclusive(async () => {
        let called = false
        const nested = mutex.runExclusive(() => {
          called = true
        })
        assert.equal(called, false)
        await nested
        assert.equal(called, true)
      })
    })
  })
})
