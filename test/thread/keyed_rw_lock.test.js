'use strict'
const assert = require('node:assert/strict')
const { E_CANCELED, KeyedRWLock } = require('../..')
const { freshName, useAgents, within } = require('../helpers/agents.js')
const { apart, badKeys, busyIn, outcome, settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')

const modes = ['Read', 'Write']
const unused = () => assert.fail('called')
const boom = new Error('boom')

describe('KeyedRWLock', () => {
  let locks
  beforeEach(() => {
    locks = new KeyedRWLock()
  })
  afterEach(() => {
    assert.equal(locks.size, 0)
    assert.deepEqual([...locks.keys()], [])
  })

  it('readers of a key share it, a writer has it alone, and keys are independent', async () => {
    const readers = [await locks.acquireRead('a'), locks.tryAcquireRead('a')]
    assert.equal(locks.tryAcquireWrite('a'), undefined)
    const writer = await locks.acquireWrite('b')
    assert.equal(locks.tryAcquireRead('b'), undefined)
    for (const [key, read, isWritten] of [
      ['a', 2, false],
      ['b', 0, true],
      ['c', 0, false],
    ]) {
      assert.deepEqual([locks.readers(key), locks.isWriteLocked(key)], [read, isWritten])
      assert.equal(locks.isLocked(key), key !== 'c')
    }
    assert.deepEqual([...locks.keys()], ['a', 'b'])
    const waiting = [locks.acquireWrite('a'), locks.acquireRead('b')]
    assert.deepEqual(locks.snapshot(), [
      { key: 'a', readers: 2, written: false, waiting: 1 },
      { key: 'b', readers: 0, written: true, waiting: 1 },
    ])
    for (const release of [...readers, writer]) release()
    for (const release of await Promise.all(waiting)) release()
  })

  it('a reader of a key waits behind a queued writer, but not for other keys', async () => {
    const reader = await locks.acquireRead('a')
    const writer = outcome(locks.acquireWrite('a'))
    const later = outcome(locks.acquireRead('a'))
    assert.equal(locks.tryAcquireRead('a'), undefined)
    locks.tryAcquireWrite('b')()
    await settled()
    assert.deepEqual([writer.state, later.state], ['pending', 'pending'])
    reader()
    await settled()
    assert.deepEqual([writer.state, later.state], ['fulfilled', 'pending'])
    writer.value()
    await settled()
    later.value()
  })

  it('upgrades and downgrades, and the key stays busy', async () => {
    const reader = await locks.acquireRead('a')
    const writer = await reader.upgrade()
    assert.ok(locks.isWriteLocked('a'))
    const again = writer.downgrade()
    assert.deepEqual([locks.readers('a'), locks.size], [1, 1])
    const other = locks.tryAcquireRead('a')
    const waiting = outcome(again.upgrade())
    await assert.rejects(other.upgrade(), { code: 'ERR_LOCK_UPGRADE', message: /of key "a"/ })
    other()
    await settled()
    waiting.value()
    assert.equal(locks.size, 0)
    const late = locks.tryAcquireRead('a')
    const beside = locks.tryAcquireRead('a')
    await assert.rejects(late.upgrade({ timeout: 1 }), { code: 'ERR_LOCK_TIMEOUT' })
    const gone = assert.rejects(late.upgrade(), { code: 'ERR_LOCK_NOT_HELD' })
    late()
    await gone
    beside()
  })

  it('distinguishes keys of different types', async () => {
    const releases = apart.map((key) => locks.tryAcquireWrite(key))
    assert.ok(releases.every((release) => release !== undefined))
    assert.deepEqual(busyIn(locks), new Set(apart))
    for (const release of releases) release()
    const all = await locks.acquireRead([...apart, ...apart, -0])
    assert.equal(locks.size, apart.length)
    for (const key of apart) assert.equal(locks.readers(key), 1)
    all()
  })

  for (const [name, key, expected] of badKeys) {
    it(`refuses ${name} as a key`, async () => {
      for (const mode of modes) {
        assert.throws(() => locks[`acquire${mode}`](key), expected)
        assert.throws(() => locks[`tryAcquire${mode}`](key), expected)
        assert.throws(() => locks[`tryAcquire${mode}`](['a', key]), expected)
        await assert.rejects(locks[`acquire${mode}`](['a', key]), expected)
      }
      for (const method of ['readers', 'isLocked', 'isWriteLocked', 'cancel']) {
        assert.throws(() => locks[method](key), expected)
      }
      for (const run of ['runShared', 'runExclusive']) {
        await assert.rejects(locks[run](key, unused), expected)
        await assert.rejects(locks[run](['a', key], unused), expected)
      }
    })
  }

  it('several keys are taken and released together, each once', async () => {
    for (const mode of modes) {
      for (const take of [
        () => locks[`acquire${mode}`](['b', 'a', 'b']),
        () => locks[`tryAcquire${mode}`](['b', 'a', 'b']),
      ]) {
        const release = await take()
        assert.deepEqual([locks.size, release.abandoned], [2, false])
        assert.equal(locks.readers('a'), mode === 'Read' ? 1 : 0)
        assert.equal(locks.tryAcquireWrite(['c', 'a']), undefined)
        assert.equal(locks.isLocked('c'), false)
        release()
        const next = locks.tryAcquireWrite('a')
        release()
        assert.ok(locks.isWriteLocked('a'))
        next()
      }
    }
    ;(await locks.acquireRead([]))()
  })

  it('a caller that gives up several keys holds none', async () => {
    const writer = await locks.acquireWrite('b')
    for (const mode of modes) {
      const acquire = (options) => locks[`acquire${mode}`](['a', 'b', 'c'], options)
      const message =
        'the locks of keys "a", "b", "c" were not available within 5 ms; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it'
      await assert.rejects(acquire({ timeout: 5 }), { code: 'ERR_LOCK_TIMEOUT', message })
      await assert.rejects(acquire({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
      const controller = new AbortController()
      const aborted = assert.rejects(acquire({ signal: controller.signal }), boom)
      await settled()
      assert.equal(locks.isLocked('a'), true)
      controller.abort(boom)
      await aborted
      const cancelled = assert.rejects(acquire(), E_CANCELED)
      await settled()
      locks.cancel('b')
      await cancelled
      await settled()
      assert.deepEqual([...locks.keys()], ['b'])
    }
    writer()
  })

  it('several keys in any order never deadlock', async () => {
    const keys = ['a', 'b', 'c', 1, 2n]
    let random = 1
    const below = (limit) => {
      random = (Math.imul(random, 1103515245) + 12345) & 0x7fffffff
      return (random >> 8) % limit
    }
    const inside = new Map(keys.map((key) => [key, 0]))
    const task = async () => {
      for (let i = scaled(200, 20); i > 0; i--) {
        const some = Array.from({ length: 1 + below(4) }, () => keys[below(keys.length)])
        const isShared = below(2) === 0
        const all = new Set(some)
        const change = (by) => {
          for (const key of all) inside.set(key, inside.get(key) + by)
        }
        await locks[isShared ? 'runShared' : 'runExclusive'](some, async () => {
          for (const key of all) {
            if (isShared) assert.ok(inside.get(key) >= 0, 'oracle: a writer holds the key')
            else assert.equal(inside.get(key), 0, 'oracle: the key is held')
          }
          const by = isShared ? 1 : -1
          change(by)
          await settled()
          change(-by)
        })
      }
    }
    const all = Promise.all(Array.from({ length: 10 }, task))
    await within(25_000, all)
  })

  it('run forms hold the key while the callback runs, and release however it ends', async () => {
    for (const [run, isWritten] of [
      ['runShared', false],
      ['runExclusive', true],
    ]) {
      let calls = 0
      const running = locks[run]('a', () => {
        calls++
        assert.deepEqual(
          [locks.readers('a'), locks.isWriteLocked('a')],
          [isWritten ? 0 : 1, isWritten],
        )
        return 42
      })
      assert.deepEqual([calls, locks.isLocked('a')], [0, true])
      assert.equal(await running, 42)
      for (const key of ['a', ['a', 'b']]) {
        const fail = () => {
          throw boom
        }
        await assert.rejects(locks[run](key, fail), boom)
        await assert.rejects(locks[run](key, 'no function'), TypeError)
        await assert.rejects(locks[run](key, unused, { timeout: -1 }), RangeError)
        await assert.rejects(locks[run](key, unused, { signal: AbortSignal.abort(boom) }), boom)
      }
      assert.throws(() => locks[`${run}Sync`]('a', unused), TypeError)
      const main = new KeyedRWLock({ allowBlockingMainThread: true })
      assert.equal(
        main[`${run}Sync`](['b', 'a'], () => main.size),
        2,
      )
      assert.throws(() => main[`${run}Sync`]('a', () => assert.fail('mine')), /mine/)
      assert.equal(main.size, 0)
    }
  })

  it('cancel is for one key, cancelAll for all', async () => {
    const own = new KeyedRWLock({ cancelError: boom })
    const held = ['a', 'b'].map((key) => own.tryAcquireWrite(key))
    const waits = ['a', 'b'].map((key) => outcome(own.acquireRead(key)))
    own.cancel('a')
    own.cancel('idle')
    await settled()
    assert.deepEqual(
      waits.map(({ reason }) => reason),
      [boom, undefined],
    )
    own.cancelAll('all')
    await settled()
    assert.equal(waits[1].reason, 'all')
    for (const release of held) release()
    assert.equal(own.size, 0)
  })

  it('forgets idle keys, and their leftover releasers release no later holder', async () => {
    const count = 2000
    const releases = []
    for (let i = 0; i < count; i++) {
      const reader = locks.tryAcquireRead(i)
      releases.push(i % 3 === 0 ? reader : reader.tryUpgrade())
      if (i % 3 === 2) releases[i] = releases[i].downgrade()
    }
    assert.equal(locks.size, count)
    for (const release of releases) release()
    assert.equal(locks.size, 0)
    const writers = Array.from({ length: count }, (_, i) => locks.tryAcquireWrite(`${i}`))
    for (const release of releases) {
      release()
      const change = release.upgrade ?? release.downgrade
      assert.throws(() => change.call(release), { code: 'ERR_LOCK_NOT_HELD' })
    }
    assert.equal(locks.size, count)
    for (const release of writers) release()
  })

  it('may be used by getters of the options while it reads them', async () => {
    const release = await locks.acquireWrite('a', {
      get priority() {
        for (let i = 0; i < 600; i++) locks.tryAcquireRead(i)()
        locks.tryAcquireWrite('a')()
        return 1
      },
    })
    assert.equal(locks.tryAcquireRead('a'), undefined)
    release()
  })
})

describe('KeyedRWLock of several threads', () => {
  const agent = useAgents()
  const head = 'const locks = (my.locks ??= new boxoffice.KeyedRWLock({ name: workerData }));'
  let locks
  let worker
  let does
  beforeEach(() => {
    const name = freshName()
    locks = new KeyedRWLock({ name, allowBlockingMainThread: true })
    worker = agent(name)
    does = (code) => worker.does(head + code)
  })

  it('is one map for all objects of one name', async () => {
    await does("my.reader = await locks.acquireRead('a'); my.writer = locks.acquireWriteSync(1)")
    assert.deepEqual([locks.readers('a'), locks.isWriteLocked(1), locks.size], [1, true, 2])
    assert.deepEqual(busyIn(locks), new Set(['a', 1]))
    assert.equal(locks.tryAcquireRead(1), undefined)
    const reader = await locks.acquireRead('a')
    const byKey = (a, b) => (typeof a.key < typeof b.key ? -1 : 1)
    assert.deepEqual(locks.snapshot().sort(byKey), [
      { key: 1, readers: 0, written: true, waiting: 0 },
      { key: 'a', readers: 2, written: false, waiting: 0 },
    ])
    const upgraded = outcome(reader.upgrade())
    await does('my.reader(); my.writer()')
    while (upgraded.state === 'pending') await settled()
    assert.equal(await does("return locks.isWriteLocked('a')"), true)
    upgraded.value()
    assert.deepEqual([locks.size, await does('return locks.size')], [0, 0])
  })

  it('several keys share one timeout, and none is kept after it', async () => {
    await does("my.writer = await locks.acquireWrite('b')")
    for (const mode of modes) {
      const late = { code: 'ERR_LOCK_TIMEOUT', message: /"a", "b"/ }
      assert.throws(() => locks[`acquire${mode}Sync`](['b', 'a'], { timeout: 10 }), late)
      await assert.rejects(locks[`acquire${mode}`](['b', 'a'], { timeout: 10 }), late)
      assert.deepEqual([...locks.keys()], ['b'])
    }
    const held = locks.tryAcquireWrite('c')
    assert.throws(() => locks.acquireReadSync(['a', 'c']), { code: 'ERR_LOCK_DEADLOCK' })
    assert.equal(locks.isLocked('a'), false)
    held()
    await does('my.writer()')
    assert.equal(locks.size, 0)
  })

  it('the holds of a thread end with it, and the next grant reports its writers', async () => {
    await does("my.all = [await locks.acquireRead(['a', 'b']), locks.tryAcquireWrite('c')]")
    await does(
      "locks.acquireWrite('a').catch(() => {}); (await locks.acquireRead('a', { priority: 1 })).upgrade()",
    )
    assert.equal(locks.readers('a'), 2)
    const all = locks.acquireWrite(['a', 'b', 'c'])
    await settled()
    await worker.dies()
    const release = await all
    assert.equal(release.abandoned, true)
    release()
    assert.equal(locks.tryAcquireWrite('c').abandoned, false)
    assert.deepEqual([...locks.keys()], ['c'])
  })
})
