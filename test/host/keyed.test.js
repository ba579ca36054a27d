'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const boxoffice = require('../..')
const { KeyedMutex, KeyedRWLock, KeyedSemaphore } = boxoffice
const { useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')

const turn = () => new Promise(setImmediate)

describe('Keyed locks of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const optionsOf = (name, options) => ({
    scope: 'host',
    name,
    directory: hosts.directory,
    ...options,
  })
  const there = (name, options) =>
    `my.locks ??= new boxoffice.KeyedMutex(${JSON.stringify({ scope: 'host', name, ...options })});`

  it('are one lock per key for all processes', async () => {
    const name = freshName()
    const locks = new KeyedMutex(optionsOf(name))
    const host = hosts.start()
    await locks.lock('a')
    await locks.lock(1)
    assert.deepEqual(
      await host.does(
        `${there(name)} return ['a', '1', 1, 1n].map((key) => my.locks.tryLock(key))`,
      ),
      [false, true, false, true],
    )
    assert.deepEqual(new Set(locks.keys()), new Set(['a', '1', 1, 1n]))
    assert.equal(locks.size, 4)
    const byKey = new Map(locks.snapshot().map((one) => [one.key, one]))
    assert.deepEqual(byKey.get('a').holderPids, [process.pid])
    assert.deepEqual(byKey.get('1').holderPids, [host.pid])
    const waiting = host.does(`await my.locks.lock('a')`)
    const atA = () => locks.snapshot().find(({ key }) => key === 'a')
    while (atA().waiterPids.length === 0) await turn()
    assert.deepEqual(atA(), {
      key: 'a',
      locked: true,
      waiting: 0,
      holderPids: [process.pid],
      waiterPids: [host.pid],
    })
    locks.unlock('a')
    await waiting
    locks.unlock(1)
    await host.does(`for (const key of ['a', '1', 1n]) my.locks.unlock(key)`)
    assert.equal(locks.size, 0)
    assert.deepEqual([...locks.keys()], [])
    assert.deepEqual(locks.snapshot(), [])
  })

  it('accept long and strange keys, which listings give as a whole', async () => {
    const locks = new KeyedMutex(optionsOf(freshName()))
    const long = 'ä'.repeat(1000)
    const keys = ['', '\ud800', '…', long, `${long}b`, 2n ** 300n, -0, 1e300]
    for (const key of keys) assert.equal(locks.tryLock(key), true, String(key))
    assert.equal(locks.size, keys.length)
    for (const seen of [[...locks.keys()], locks.snapshot().map(({ key }) => key)]) {
      for (const key of keys) assert.ok(seen.includes(key), String(key))
      for (const key of seen) assert.equal(locks.isLocked(key), true, String(key))
    }
    for (const key of keys) locks.unlock(key)
    assert.equal(locks.size, 0)
  })

  it('list a long key that only others hold as cut, and never as another key', async () => {
    const long = '/var/lib/shop/orders/'.repeat(10)
    const [short, cut] = [
      ['a…', 1, 5n],
      [`${long}1`, `${long}2`, '\ud800'.repeat(50), 10n ** 300n],
    ]
    const written = [...short, ...cut].map((key) =>
      typeof key === 'bigint' ? `${key}n` : JSON.stringify(key),
    )
    const beginnings = [long, long, '\\ud800', '1000'].map((text) => text.slice(0, 4))
    const classes = { KeyedMutex: '', KeyedRWLock: 'Write', KeyedSemaphore: '' }
    for (const [Class, mode] of Object.entries(classes)) {
      const name = freshName()
      const start = Class === 'KeyedSemaphore' ? [1] : []
      const host = hosts.start()
      await host.does(`
        my.locks = new boxoffice.${Class}(...${JSON.stringify([...start, { scope: 'host', name }])})
        for (const key of [${written}]) my.locks.tryAcquire${mode}(key)`)
      const locks = new boxoffice[Class](...start, optionsOf(name))
      const all = [...locks.keys()]
      for (const key of short) assert.ok(all.includes(key), String(key))
      const seen = all.filter((key) => typeof key === 'object')
      assert.equal(all.length, short.length + seen.length)
      assert.deepEqual(
        seen.map(({ type, beginning }) => `${type} ${beginning.slice(0, 4)}`).sort(),
        cut.map((key, i) => `${typeof key} ${beginnings[i]}`).sort(),
      )
      for (const key of seen) {
        assert.equal(String(key), `${key.beginning}…`)
        assert.throws(() => locks.isLocked(key), TypeError)
        locks.cancel(key)
      }
      assert.deepEqual(
        locks
          .snapshot()
          .map(({ key }) => String(key))
          .sort(),
        all.map(String).sort(),
      )
      assert.deepEqual(
        await host.does('return [...my.locks.keys()].map((key) => my.locks.isLocked(key))'),
        written.map(() => true),
      )
    }
  })

  it('list a long key of this thread that has moved to another slot', async () => {
    const locks = new KeyedMutex(optionsOf(freshName(), { capacity: 1 }))
    const keys = Array.from({ length: 500 }, (_, n) => `${'long '.repeat(30)}${n}`)
    for (const key of [...keys, ...keys]) {
      const release = locks.tryAcquire(key)
      assert.deepEqual([...locks.keys()], [key])
      release()
    }
  })

  it('take several keys at once, with one token for all of them', async () => {
    const name = freshName()
    const locks = new KeyedMutex(optionsOf(name))
    const host = hosts.start()
    const rounds = 30
    const elsewhere = host.does(`${there(name)}
      for (let i = 0; i < ${rounds}; i++) await my.locks.runExclusive(['b', 'a', 'c'], turn)`)
    for (let i = 0; i < rounds; i++) await locks.runExclusive(['c', 'a', 'b'], turn)
    await within(60_000, elsewhere)
    const before = await locks.acquire('a')
    const first = before.fencingToken
    before()
    const all = await locks.acquire(['a', 'b'])
    assert.ok(all.fencingToken > first)
    assert.deepEqual(
      all.fencingTokens,
      new Map([
        ['a', all.fencingToken],
        ['b', all.fencingToken],
      ]),
    )
    all()
    const alone = await locks.acquire(['a'])
    assert.deepEqual(alone.fencingTokens, new Map([['a', alone.fencingToken]]))
    alone()
    assert.equal(locks.size, 0)
    // As late as a token is drawn.
    const late = await locks.acquire(['a', 'b'])
    late()
    assert.equal(late.fencingToken, undefined)
    assert.equal(late.fencingTokens, undefined)
  })

  it('have one token for several keys with a maxHold, too', async () => {
    const locks = new KeyedMutex(optionsOf(freshName(), { maxHold: 60_000 }))
    const all = await locks.acquire(['a', 'b'])
    assert.equal(typeof all.fencingToken, 'bigint')
    assert.deepEqual([...all.fencingTokens.values()], [all.fencingToken, all.fencingToken])
    assert.equal(all.signal.aborted, false)
    all()
  })

  it('make progress between processes with several promises each', async () => {
    const name = freshName()
    const loops = `
      let stop = false
      setTimeout(() => { stop = true }, 300)
      const loop = async (i) => {
        for (let n = i; !stop; n++) {
          const release = await my.locks.acquire('abc'[(n * 7 + i) % 3])
          if (n % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
          else if (n % 8 < 4) await turn()
          release()
        }
      }
      await Promise.all([loop(0), loop(1), loop(2), loop(3)])
      return my.locks.snapshot().length <= 3`
    const all = [hosts.start(), hosts.start()]
    const ends = all.map((host) => host.does(`${there(name)} ${loops}`))
    assert.deepEqual(await within(30_000, Promise.all(ends)), [true, true])
  })

  it('count a dead holder until the next grant reports it, key by key', async () => {
    const name = freshName()
    const locks = new KeyedMutex(optionsOf(name))
    const host = hosts.start()
    await host.does(`${there(name)} for (let i = 0; i < 100; i++) await my.locks.lock(i)`)
    assert.equal(locks.size, 100)
    await host.dies()
    for (let i = 0; i < 100; i++) {
      const release = await within(30_000, locks.acquire(i))
      assert.equal(release.abandoned, true)
      release()
    }
    assert.equal(locks.size, 0)
  })

  it('have room for `capacity` keys, and lose nothing when they are full', async () => {
    const name = freshName()
    const locks = new KeyedMutex(optionsOf(name, { capacity: 16 }))
    const held = []
    let error
    for (let i = 0; error === undefined; i++) {
      try {
        await locks.lock(i)
        held.push(i)
      } catch (thrown) {
        error = thrown
      }
    }
    assert.equal(error.code, 'ERR_LOCK_CAPACITY')
    assert.match(error.message, new RegExp(`^the mutex of key ${held.length} in "${name}": `))
    assert.ok(held.length >= 16, `${held.length}`)
    const host = hosts.start()
    assert.deepEqual(
      await host.does(`${there(name)}
        return [await codeOf(() => my.locks.lock('more')), my.locks.tryLock(0)]`),
      ['ERR_LOCK_CAPACITY', false],
    )
    for (const key of held) locks.unlock(key)
    assert.equal(locks.size, 0)
    // Idle keys of this process do not take room, whichever they are.
    for (let i = 0; i < 1000; i++) {
      await locks.lock(`other ${i}`)
      locks.unlock(`other ${i}`)
    }
    assert.equal(
      await host.does('for (let i = 0; i < 16; i++) await my.locks.lock(i); return my.locks.size'),
      16,
    )
    assert.throws(() => new KeyedMutex(optionsOf(name, { capacity: 17 })), {
      code: 'ERR_LOCK_MISMATCH',
      message:
        /exists with a capacity of 16 keys, not 17; construct it alike everywhere, or choose another name/,
    })
  })

  it('drop idle keys to make room for another', async () => {
    const locks = new KeyedMutex(optionsOf(freshName(), { capacity: 128 }))
    const held = []
    const isFull = (error) => error.code === 'ERR_LOCK_CAPACITY'
    const hasRoom = (key) => {
      try {
        return locks.tryLock(key)
      } catch (error) {
        assert.ok(isFull(error), error.message)
        return false
      }
    }
    let next = 0
    while (hasRoom(next)) held.push(next++)
    // One of them has the slot that the next key would get.
    const makesRoom = (key) => {
      locks.unlock(key)
      const isIn = hasRoom(next)
      if (!isIn) assert.equal(locks.tryLock(key), true)
      return isIn
    }
    const same = held.find(makesRoom)
    assert.notEqual(same, undefined)
    for (let i = 0; i < 3; i++) {
      locks.unlock(next)
      assert.equal(hasRoom(same), true)
      assert.equal(hasRoom(next), false)
      locks.unlock(same)
      assert.equal(hasRoom(next), true)
    }
    for (const key of locks.keys()) locks.unlock(key)
  })

  it('are one lock in this thread, however their options are spelled', async () => {
    const name = freshName()
    const one = new KeyedMutex(optionsOf(name))
    const spelled = { directory: `${hosts.directory}${path.sep}`, capacity: 65_536 }
    const other = new KeyedMutex(optionsOf(name, spelled))
    const host = hosts.start()
    await host.does(`${there(name)} await my.locks.lock('k')`)
    const waiting = other.acquire('k')
    assert.equal(one.isLocked('k'), true) // a call that needs the key no more when it returns
    await host.dies()
    const release = await within(30_000, waiting)
    assert.equal(release.abandoned, true)
    const next = one.acquire('k')
    release()
    const giveBack = await within(30_000, next)
    assert.deepEqual([one.isLocked('k'), other.isLocked('k')], [true, true])
    giveBack()
    assert.equal(other.isLocked('k'), false)
  })

  it('KeyedSemaphore: counts for each key, and gets back the units of a dead process', async () => {
    const name = freshName()
    const locks = new KeyedSemaphore(3, optionsOf(name))
    const host = hosts.start()
    await host.does(`my.locks = new boxoffice.KeyedSemaphore(3, { scope: 'host', name: ${JSON.stringify(name)} })
      await my.locks.acquire('a', 2)`)
    assert.equal(locks.getValue('a'), 1)
    assert.equal(locks.getValue('b'), 3)
    assert.deepEqual(locks.snapshot(), [
      { key: 'a', value: 1, waiting: 0, holderPids: [host.pid], waiterPids: [] },
    ])
    const waiting = locks.acquire('a', 3)
    await host.dies()
    const [value, release] = await within(30_000, waiting)
    assert.equal(value, 3)
    assert.equal(release.abandoned, true)
    assert.equal(typeof release.fencingToken, 'bigint')
    release()
    assert.equal(locks.getValue('a'), 3)
    assert.throws(() => locks.release('a'), { code: 'ERR_LOCK_RANGE' })
    assert.equal(locks.size, 0)
    assert.throws(() => new KeyedSemaphore(4, optionsOf(name)), { code: 'ERR_LOCK_MISMATCH' })
  })

  it('KeyedRWLock: readers of any process share a key, a writer has it alone', async () => {
    const name = freshName()
    const locks = new KeyedRWLock(optionsOf(name))
    const host = hosts.start()
    await host.does(`my.locks = new boxoffice.KeyedRWLock({ scope: 'host', name: ${JSON.stringify(name)} })
      my.read = await my.locks.acquireRead('a')`)
    const read = await locks.acquireRead('a')
    assert.equal(locks.readers('a'), 2)
    const writing = locks.acquireWrite('a')
    assert.equal(await host.does(`return my.locks.tryAcquireRead('a') === undefined`), true)
    read()
    await host.does('my.read()')
    const write = await within(30_000, writing)
    assert.equal(locks.isWriteLocked('a'), true)
    assert.deepEqual(locks.snapshot(), [
      {
        key: 'a',
        readers: 0,
        written: true,
        waiting: 0,
        holderPids: [process.pid],
        waiterPids: [],
      },
    ])
    write()
    assert.equal(locks.size, 0)
  })

  it('shows corrupted keys as they are', async () => {
    const name = freshName()
    const keyed = new KeyedMutex({ scope: 'host', name, directory: hosts.directory, capacity: 4 })
    const release = await keyed.acquire('this is its key')
    const place = fs.readdirSync(hosts.directory, { recursive: true, withFileTypes: true })
    const one = place.find((each) => each.name.includes(encodeURIComponent(name)))
    const file = path.join(one.parentPath ?? one.path, one.name)
    const at = fs.readFileSync(file).indexOf('sthis is its key')
    for (const text of ['j', 'b', '?']) {
      const to = fs.openSync(file, 'r+')
      fs.writeSync(to, text, at)
      fs.closeSync(to)
      assert.deepEqual([...keyed.keys()], [`${text}this is its key`])
      assert.equal(keyed.snapshot()[0].key, `${text}this is its key`)
    }
    release()
    assert.equal(keyed.size, 0)
  })
})
