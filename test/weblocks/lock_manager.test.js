'use strict'
// The Web Locks standard, line by line, in one thread.
const assert = require('node:assert/strict')
const { Lock, LockManager, locks } = require('../..')
const { outcome, settled } = require('../helpers/keyed.js')
const { assertFree, stateOf, useHolders } = require('../helpers/web_locks.js')

const thenable = (then) => ({ then })
const never = () => assert.fail('the callback was called')

describe('locks.request(): its arguments', () => {
  const rejects = (args, expected) => assert.rejects(locks.request(...args), expected)

  it('rejects, and never throws, when there are fewer than two', async () => {
    await rejects([], TypeError)
    await rejects(['a'], TypeError)
    assert.equal(LockManager.prototype.request.length, 2)
  })

  it('converts the name to a string', async () => {
    const nameOf = (name) => locks.request(name, (lock) => lock.name)
    assert.equal(await nameOf(12), '12')
    assert.equal(await nameOf(undefined), 'undefined')
    assert.equal(await nameOf(null), 'null')
    assert.equal(await nameOf({ toString: () => 'made' }), 'made')
    await rejects([Symbol('a'), never], TypeError)
    const thrown = new Error('toString')
    const name = {
      toString() {
        throw thrown
      },
    }
    await rejects([name, never], thrown)
  })

  it('keeps every name apart from every other', async () => {
    const names = [
      '',
      'a',
      'A',
      'a\0',
      'a\0b',
      '\uD800',
      '\uDC00',
      '\uDC00\uD800',
      '\uFFFD',
      '\uFFFF',
    ]
    names.push('é', 'e\u0301', 'x'.repeat(126), 'x'.repeat(127), 'x'.repeat(128), 'x'.repeat(5000))
    const nest = async ([name, ...others]) => {
      if (name === undefined) return
      await locks.request(name, { ifAvailable: true }, async (lock) => {
        assert.equal(lock?.name, name)
        await nest(others)
      })
    }
    await nest(names)
    for (const name of names) await assertFree(name)
  })

  it('refuses names that begin with a hyphen', async () => {
    for (const name of ['-', '-a']) await rejects([name, never], { name: 'NotSupportedError' })
    assert.equal(await locks.request('a-', (lock) => lock.name), 'a-')
  })

  for (const bad of [undefined, null, 1, 'a', [], {}, Promise.resolve()]) {
    it(`refuses ${String(bad)} as a callback`, async () => {
      await rejects(['a', bad], TypeError)
      await rejects(['a', {}, bad], TypeError)
    })
  }

  it('takes the second of three arguments as options, of any type', async () => {
    await rejects(['a', never, undefined], TypeError)
    assert.equal(
      await locks.request(
        'a',
        () => {},
        () => 1,
      ),
      1,
    ) // a function is an object
    assert.equal(await locks.request('a', undefined, () => 2), 2)
    assert.equal(await locks.request('a', null, () => 3), 3)
    for (const bad of [1, 'a', true, 1n, Symbol('a')]) await rejects(['a', bad, never], TypeError)
  })

  it('reads the options in the order of the standard, once each, and its own options after them', async () => {
    const read = []
    const options = new Proxy({}, { get: (_, key) => void read.push(key) })
    await locks.request('a', options, () => {})
    const names = ['ifAvailable', 'mode', 'signal', 'steal', 'priority', 'scope', 'timeout']
    assert.deepEqual(read, names)
  })

  it('converts one argument after the other', async () => {
    const thrown = new Error('in the options')
    const options = {
      get mode() {
        throw thrown
      },
    }
    await rejects(['-a', options, undefined], thrown)
    await rejects(['-a', {}, undefined], TypeError)
  })

  it('knows two modes', async () => {
    const modeOf = (mode) => locks.request('a', { mode }, (lock) => lock.mode)
    assert.equal(await modeOf(undefined), 'exclusive')
    assert.equal(await modeOf('exclusive'), 'exclusive')
    assert.equal(await modeOf('shared'), 'shared')
    assert.equal(await modeOf({ toString: () => 'shared' }), 'shared')
    for (const bad of [null, '', 'Shared', 'toString', 0])
      await assert.rejects(modeOf(bad), TypeError)
  })

  it('converts ifAvailable and steal to booleans', async () => {
    const isGranted = (options) => locks.request('b', options, (lock) => lock !== null)
    await locks.request('b', async () => {
      assert.equal(await isGranted({ ifAvailable: 'yes' }), false)
      assert.equal(await isGranted({ ifAvailable: 1, steal: 0 }), false)
    })
    assert.equal(await isGranted({ ifAvailable: '', steal: null }), true)
  })

  it('accepts only an AbortSignal as a signal', async () => {
    for (const signal of [null, 'a', 12.34, false, {}, Symbol('a'), () => {}, globalThis]) {
      await rejects(['a', { signal }, never], TypeError)
    }
  })

  it('refuses contradictory options, in the order of the standard', async () => {
    const notSupported = { name: 'NotSupportedError', constructor: DOMException }
    const { signal } = new AbortController()
    await rejects(['a', { steal: true, ifAvailable: true }, never], notSupported)
    await rejects(['a', { steal: true, mode: 'shared' }, never], notSupported)
    await rejects(['a', { steal: true, signal }, never], notSupported)
    await rejects(['a', { ifAvailable: true, signal }, never], notSupported)
    // An aborted signal comes last.
    const aborted = AbortSignal.abort()
    await rejects(['a', { ifAvailable: true, signal: aborted }, never], notSupported)
    await rejects(['-a', { signal: aborted }, never], notSupported)
    await rejects(['a', { signal: aborted }, never], { name: 'AbortError' })
  })

  it('is only callable on lock managers', async () => {
    const { acquire, query, request } = LockManager.prototype
    await assert.rejects(request.call({}, 'a', never), TypeError)
    await assert.rejects(query.call({}), TypeError)
    assert.throws(() => acquire.call({}, 'a'), TypeError)
    await assertFree('a')
  })
})

describe('locks.request()', () => {
  const hold = useHolders()

  it('gives the callback a description of the lock', async () => {
    await locks.request('a', (lock) => {
      assert.ok(lock instanceof Lock)
      assert.deepEqual([lock.name, lock.mode], ['a', 'exclusive'])
      assert.equal(String(lock), '[object Lock]')
      assert.throws(() => {
        lock.name = 'b'
      }, TypeError)
    })
    assert.throws(() => new Lock(), TypeError)
    assert.throws(() => new Lock('a', 'exclusive'), TypeError)
  })

  it('never calls back synchronously', async () => {
    const log = []
    const free = locks.request('a', () => log.push('free'))
    const absent = locks.request('a', { ifAvailable: true }, () => log.push('absent'))
    const thief = locks.request('b', { steal: true }, () => log.push('thief'))
    log.push('after')
    await Promise.all([free, absent, thief])
    assert.equal(log[0], 'after')
    assert.deepEqual(log.slice(1).sort(), ['absent', 'free', 'thief'])
  })

  it("settles to the callback's result, after the lock has been released", async () => {
    assert.equal(await locks.request('a', () => 1), 1)
    assert.equal(await locks.request('a', async () => 2), 2)
    const log = []
    const held = await hold('a')
    held.promise.then(() => log.push('over'))
    locks.request('a', () => log.push('next'))
    held.end('done')
    assert.equal(await held.promise, 'done')
    assert.deepEqual(await stateOf('a'), { held: [], pending: [] })
    await settled()
    assert.equal(log.length, 2)
  })

  it("holds until the callback's promise has settled, either way", async () => {
    for (const end of ['resolve', 'reject']) {
      let settle
      const thrown = new Error('thrown')
      const first = outcome(
        locks.request('a', () => {
          return new Promise((resolve, reject) => {
            settle = end === 'resolve' ? () => resolve('well') : () => reject(thrown)
          })
        }),
      )
      const second = outcome(locks.request('a', () => 'second'))
      await settled()
      assert.deepEqual([first.state, second.state], ['pending', 'pending'])
      settle()
      await settled()
      assert.equal(
        end === 'resolve' ? first.value : first.reason,
        end === 'resolve' ? 'well' : thrown,
      )
      assert.equal(second.value, 'second')
    }
  })

  it('releases, and rejects with the same error, when the callback throws', async () => {
    let looked = false
    const thrown = thenable(() => {
      looked = true
    })
    const thrower = () => {
      throw thrown
    }
    for (const callback of [thrower, async () => thrower()]) {
      const promise = locks.request('a', callback)
      assert.ok(promise instanceof Promise)
      const seen = outcome(promise)
      await settled()
      assert.equal(seen.reason, thrown)
      await assertFree('a')
    }
    assert.equal(looked, false)
  })

  it('waits for a thenable that the callback returns', async () => {
    let end
    const given = thenable((resolve) => {
      end = resolve
    })
    const promise = locks.request('a', () => given)
    await settled()
    assert.deepEqual(await stateOf('a'), { held: ['exclusive'], pending: [] })
    end('thenable')
    assert.equal(await promise, 'thenable')
  })

  it('grants in the order of the requests: shared ones together, exclusive ones alone', async () => {
    const log = []
    const modes = [
      'shared',
      'shared',
      'exclusive',
      'shared',
      'exclusive',
      'exclusive',
      'shared',
      'shared',
    ]
    const ends = []
    const all = modes.map((mode, i) =>
      locks.request('a', { mode }, () => {
        log.push(i)
        return new Promise((end) => ends.push(end))
      }),
    )
    const groups = [[0, 1], [2], [3], [4], [5], [6, 7]]
    for (const [i, group] of groups.entries()) {
      await settled()
      assert.deepEqual(log, groups.slice(0, i + 1).flat())
      const { held } = await stateOf('a')
      assert.equal(held.length, group.length)
      for (const end of ends.splice(0)) end()
    }
    await Promise.all(all)
    await assertFree('a')
  })

  it('lets a shared request wait behind a waiting exclusive one', async () => {
    const reader = await hold('a', { mode: 'shared' })
    const writer = outcome(locks.request('a', () => 'writer'))
    const late = outcome(locks.request('a', { mode: 'shared' }, () => 'late'))
    await settled()
    assert.deepEqual([writer.state, late.state], ['pending', 'pending'])
    reader.end()
    await settled()
    assert.deepEqual([writer.value, late.value], ['writer', 'late'])
  })

  it('keeps names apart', async () => {
    await hold('a')
    assert.equal(await locks.request('b', () => 'free'), 'free')
  })
})

describe('locks.request() with ifAvailable', () => {
  const hold = useHolders()
  const isGranted = (name, options) =>
    locks.request(name, { ...options, ifAvailable: true }, (lock) => lock !== null)

  it('is granted when it can be at once', async () => {
    assert.ok(await isGranted('a'))
    await hold('a', { mode: 'shared' })
    assert.ok(await isGranted('a', { mode: 'shared' }))
    assert.ok(await isGranted('b'))
  })

  it("passes null otherwise, and resolves to the callback's result", async () => {
    await hold('a')
    const answer = (callback) => locks.request('a', { ifAvailable: true }, callback)
    assert.equal(await answer((lock) => lock), null)
    assert.equal(await answer(async () => 5), 5)
    const thrown = new Error('thrown')
    const thrower = () => {
      throw thrown
    }
    await assert.rejects(answer(thrower), thrown)
    await assert.rejects(
      answer(async () => thrower()),
      thrown,
    )
    assert.deepEqual(await stateOf('a'), { held: ['exclusive'], pending: [] })
  })

  it('is not granted in a mode that its holders do not share', async () => {
    const held = await hold('a', { mode: 'shared' })
    assert.equal(await isGranted('a'), false)
    held.end()
    await settled()
    await hold('a')
    assert.equal(await isGranted('a', { mode: 'shared' }), false)
  })

  it('does not go ahead of waiters', async () => {
    await hold('a', { mode: 'shared' })
    const waiting = locks.request('a', () => {})
    assert.equal(await isGranted('a', { mode: 'shared' }), false)
    assert.deepEqual(await stateOf('a'), { held: ['shared'], pending: ['exclusive'] })
    waiting.catch(() => {})
  })
})

describe('locks.request() with steal', () => {
  const hold = useHolders()
  const aborted = { name: 'AbortError', constructor: DOMException }
  const steal = (name, callback = () => 'stolen') => locks.request(name, { steal: true }, callback)

  it('takes a free lock as any other request', async () => {
    assert.equal(await steal('a', (lock) => lock.mode), 'exclusive')
    await assertFree('a')
  })

  it('rejects the holder at once, whose callback goes on and releases nothing', async () => {
    const held = await hold('a')
    const seen = outcome(held.promise)
    let end
    const thief = steal('a', () => new Promise((resolve) => (end = resolve)))
    await settled()
    assert.equal(seen.state, 'rejected')
    assert.equal(seen.reason.name, 'AbortError')
    held.end()
    await settled()
    assert.deepEqual(await stateOf('a'), { held: ['exclusive'], pending: [] })
    end('thief')
    assert.equal(await thief, 'thief')
    await assertFree('a')
  })

  it('takes it from every shared holder', async () => {
    const shared = await Promise.all([1, 2, 3].map(() => hold('a', { mode: 'shared' })))
    const rejected = shared.map(({ promise }) => assert.rejects(promise, aborted))
    assert.equal(await steal('a'), 'stolen')
    await Promise.all(rejected)
    await assertFree('a')
  })

  it('goes ahead of waiters, which keep their order', async () => {
    const held = await hold('a')
    const rejected = assert.rejects(held.promise, aborted)
    const log = []
    const first = locks.request('a', () => log.push('first'))
    const second = locks.request('a', () => log.push('second'))
    await steal('a', () => log.push('thief'))
    await Promise.all([first, second, rejected])
    assert.deepEqual(log, ['thief', 'first', 'second'])
  })

  it('can be stolen from itself', async () => {
    const log = []
    const thief = await hold('a', { steal: true })
    const rejected = assert.rejects(thief.promise, aborted)
    await steal('a', () => log.push('last'))
    await rejected
    assert.deepEqual(log, ['last'])
    await assertFree('a')
  })

  it('takes it from a request whose callback has not begun, and which still gets called', async () => {
    const log = []
    const robbed = locks.request('a', (lock) => log.push(`robbed ${lock.name}`))
    const rejected = assert.rejects(robbed, aborted)
    await steal('a', () => log.push('thief'))
    await rejected
    assert.deepEqual(log, ['robbed a', 'thief'])
    await assertFree('a')
  })

  it('rejects a request whose callback throws later with the theft only', async () => {
    let fail
    const robbed = locks.request('a', () => new Promise((_, reject) => (fail = reject)))
    await settled()
    const rejected = assert.rejects(robbed, aborted)
    await steal('a')
    await rejected
    fail(new Error('it has no listener'))
    await settled()
    await assertFree('a')
  })

  it('rejects a request whose callback ends in the turn of the theft', async () => {
    const held = await hold('a')
    const rejected = assert.rejects(held.promise, aborted)
    const thief = steal('a')
    held.end('too late')
    await rejected
    assert.equal(await thief, 'stolen')
    await assertFree('a')
  })
})

describe('locks.request() with a signal', () => {
  const hold = useHolders()

  it('rejects with the reason of a signal that is aborted already', async () => {
    for (const reason of ['why', new Error('why'), thenable(never)]) {
      const signal = AbortSignal.abort(reason)
      const seen = outcome(locks.request('a', { signal }, never))
      await settled()
      assert.equal(seen.reason, reason)
    }
    await assertFree('a')
  })

  it('takes the request out of the queue, and admits the requests behind it', async () => {
    await hold('a', { mode: 'shared' })
    const controller = new AbortController()
    const { signal } = controller
    const aborted = outcome(locks.request('a', { signal }, never))
    const behind = outcome(locks.request('a', { mode: 'shared' }, () => 'behind'))
    assert.deepEqual(await stateOf('a'), { held: ['shared'], pending: ['exclusive', 'shared'] })
    controller.abort('why')
    assert.deepEqual(await stateOf('a'), { held: ['shared', 'shared'], pending: [] })
    await settled()
    assert.deepEqual([aborted.reason, behind.value], ['why', 'behind'])
  })

  it('is checked between the grant and the callback', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const aborted = locks.request('a', { signal }, never)
    const next = locks.request('a', () => 'next')
    controller.abort()
    await assert.rejects(aborted, { name: 'AbortError' })
    assert.equal(await next, 'next')
    await assertFree('a')
  })

  it('is checked in the same way for a request that had to wait', async () => {
    const release = await locks.acquire('a')
    const controller = new AbortController()
    const { signal } = controller
    const aborted = outcome(locks.request('a', { signal }, never))
    const next = locks.request('a', () => 'next')
    release() // grants it; the callback is called in a microtask
    controller.abort('why')
    assert.equal(await next, 'next')
    assert.equal(aborted.reason, 'why')
    await assertFree('a')
  })

  it('of a custom class leaves nothing locked', async () => {
    const strange = new Error('strange')
    let isStrange = false
    const signal = {
      get aborted() {
        if (isStrange) throw strange
        return false
      },
      addEventListener() {},
      removeEventListener() {},
    }
    const promise = locks.request('a', { signal }, never)
    isStrange = true
    await assert.rejects(promise, strange)
    await assertFree('a')
  })

  it('does nothing once the callback has been called, and has no listener then', async () => {
    const controller = new AbortController()
    const { signal } = controller
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args) => {
      listeners++
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args) => {
      listeners--
      removeEventListener.apply(signal, args)
    }
    const first = await hold('a')
    const waiting = hold('a', { signal })
    assert.equal(listeners, 1)
    first.end()
    const held = await waiting
    assert.equal(listeners, 0)
    controller.abort()
    await settled()
    assert.deepEqual(await stateOf('a'), { held: ['exclusive'], pending: [] })
    held.end('well')
    assert.equal(await held.promise, 'well')
  })
})

describe('locks.query()', () => {
  const hold = useHolders()

  it('is empty without holders and waiters', async () => {
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })

  it('lists holders and waiters in order, with one clientId for each thread', async () => {
    await hold('a', { mode: 'shared' })
    await hold('b')
    await hold('a', { mode: 'shared' })
    locks.request('b', { mode: 'shared' }, () => {})
    locks.request('a', () => {})
    locks.request('a', { mode: 'shared' }, () => {})
    const clientId = `node-${process.pid}-0`
    const info = (name, mode) => ({ name, mode, clientId })
    assert.deepEqual(await locks.query(), {
      held: [info('a', 'shared'), info('a', 'shared'), info('b', 'exclusive')],
      pending: [info('a', 'exclusive'), info('a', 'shared'), info('b', 'shared')],
    })
  })

  it('is a snapshot', async () => {
    const held = await hold('a')
    const before = await locks.query()
    held.end()
    await held.promise
    assert.equal(before.held.length, 1)
    before.held.push('mine')
    assert.deepEqual((await locks.query()).held, [])
  })
})

describe('new LockManager()', () => {
  const hold = useHolders()

  it('is another object for the same manager', async () => {
    const manager = new LockManager()
    await hold('a')
    assert.equal(await manager.request('a', { ifAvailable: true }, (lock) => lock), null)
    assert.deepEqual(await manager.query(), await locks.query())
    assert.equal(String(manager), '[object LockManager]')
  })
})
