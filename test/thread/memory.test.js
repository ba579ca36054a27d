'use strict'
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')

const million = 1_000_000
const mebibyte = 2 ** 20
/** What a round may add: it has 20,000 operations or more, of which none keeps an object. */
const most = { objects: 1000, buffers: mebibyte / 2 }

/** No more than `most` was added. */
function assertFew({ objects, buffers }) {
  assert.ok(objects <= most.objects, `${objects} objects more`)
  assert.ok(buffers <= most.buffers, `${buffers} bytes more`)
}

/** The last output of `code`. */
async function measured(code) {
  const shown = await inChild(code, '--expose-gc')
  return shown.at(-1)
}

/** What `work` adds, after a first run to warm up. `setUp` makes its argument. */
async function growth(setUp, work) {
  return measured(`
    ${setUp}
    async function work(from) { ${work} }
    await work(0)
    const more = await growth((i) => work(${million} * (i + 1)), ${JSON.stringify(most)})
    show({ ...more, size: locks?.size })`)
}

describe('memory', function () {
  this.timeout(60_000)
  const million5 = million / 2
  const rounds = {
    'acquire and release': `for (let i = from; i < from + ${million5}; i++) {
      const release = await locks.acquire(i)
      release()
    }`,
    'lock and unlock, of strings': `for (let i = from; i < from + ${million5}; i++) {
      await locks.lock('user ' + i)
      locks.unlock('user ' + i)
    }`,
    'each waited for': `for (let i = from; i < from + 200_000; i++) {
      await locks.lock(i)
      const wait = locks.lock(i)
      locks.unlock(i)
      await wait
      locks.unlock(i)
    }`,
    'many at a time': `for (let i = from; i < from + ${million5}; i += 1000) {
      const all = []
      for (let j = 0; j < 1000; j++) all.push(locks.runExclusive(i + j, turn))
      await Promise.all(all)
    }`,
  }
  for (const [name, work] of Object.entries(rounds)) {
    it(`does not grow over a million keys: ${name}`, async () => {
      const { size, rss, ...more } = await growth('const locks = new KeyedMutex()', work)
      assert.equal(size, 0)
      assertFew(more)
      assert.ok(rss < 100 * mebibyte, `${rss} bytes more`)
    })
  }

  it('does not grow over half a million keys of a KeyedSemaphore', async () => {
    const { size, ...more } = await growth(
      'const locks = new KeyedSemaphore(2)',
      `for (let i = from; i < from + 250_000; i++) {
        const [, release] = await locks.acquire(i)
        release()
      }`,
    )
    assert.equal(size, 0)
    assertFew(more)
  })

  it('keeps nothing of a hundred thousand keys that were busy at once', async () => {
    const { size, ...more } = await growth(
      'const locks = new KeyedMutex()',
      `if (from === 0) return
      const all = []
      for (let i = 0; i < 100_000; i++) all.push(await locks.acquire(i))
      if (locks.size !== 100_000) throw new Error('not busy')
      for (const release of all) release()`,
    )
    assert.equal(size, 0)
    // A thousand idle cores stay for later use, of the first round.
    assertFew(more)
  })

  it('an idle mutex of one thread costs less than 200 bytes', async () => {
    const { each } = await measured(`
      const count = 100_000
      const all = new Array(count).fill(null)
      new Mutex()
      const before = await live()
      for (let i = 0; i < count; i++) all[i] = new Mutex()
      const after = await live()
      show({ each: (after.bytes - before.bytes) / all.length })`)
    assert.ok(each < 200, `${each} bytes each`)
    assert.ok(each > 8, 'they have been collected')
  })

  it('does not grow over a hundred thousand callers of waitForUnlock()', async () => {
    const { size, ...more } = await growth(
      'const locks = new KeyedMutex(); const mutex = new Mutex()',
      `for (let i = 0; i < 100_000; i++) {
        await mutex.lock()
        const unlocked = mutex.waitForUnlock()
        mutex.unlock()
        await unlocked
      }`,
    )
    assertFew(more)
  })

  const ways = {
    'time out': `const wait = locks.acquire('a', { timeout: 1 })`,
    'time out at once': `const wait = locks.acquire('a', { timeout: 0 })`,
    'are aborted': `const controller = new AbortController()
      const wait = locks.acquire('a', { signal: controller.signal })
      aborts.push(() => controller.abort('mine'))`,
    'are aborted by one signal': `const wait = locks.acquire('a', { signal: signals.signal })
      aborts.push(() => { signals.abort('mine'); signals = new AbortController() })`,
    'are cancelled': `const wait = locks.acquire('a', { signal: lasting.signal })
      aborts.push(() => locks.cancel('a'))`,
    'wait for an unlock that does not come': `const wait = locks.waitForUnlock('a', { timeout: 1, signal: lasting.signal })`,
    'are admitted': `const wait = locks.acquire('a', { signal: lasting.signal, timeout: 1e6 })
        .then((release) => { release(); throw 'over' })
      if (i === 0) aborts.push(() => locks.unlock('a'))`,
  }
  for (const [name, ask] of Object.entries(ways)) {
    // Ways that differ little from the one before get less time.
    const count = name.includes(' at once') || name.includes(' one signal') ? 30_000 : 100_000
    it(`waiters that ${name} leave nothing behind`, async () => {
      const { more, size, snapshot, failed, rounds } = await measured(`
        const { setMaxListeners } = require('node:events')
        const locks = new KeyedMutex()
        const lasting = new AbortController()
        let signals = new AbortController()
        setMaxListeners(0, lasting.signal, signals.signal)
        process.removeAllListeners('warning')
        process.on('warning', () => {})
        locks.tryLock('a')
        let failed = 0
        async function work(count) {
          for (let left = count; left > 0; left -= 1000) {
            const all = []
            const aborts = []
            for (let i = 0; i < 1000; i++) {
              ${ask}
              all.push(wait.catch(() => { failed++ }))
            }
            for (const abort of aborts) abort()
            await Promise.all(all)
            locks.tryLock('a')
          }
        }
        await work(5000)
        let rounds = 0
        const more = await growth(() => { rounds++; return work(${count}) }, ${JSON.stringify(most)})
        const { getEventListeners } = require('node:events')
        if (getEventListeners(lasting.signal, 'abort').length > 0) throw new Error('listeners left')
        show({ more, size: locks.size, snapshot: locks.snapshot(), failed, rounds })`)
      assert.equal(failed, 5000 + rounds * count)
      assert.equal(size, 1)
      assert.deepEqual(snapshot, [{ key: 'a', locked: true, waiting: 0 }])
      assertFew(more)
    })
  }

  it('waiters for several keys leave nothing behind on a shared signal', async () => {
    const { size, ...more } = await growth(
      `const locks = new KeyedMutex()
      const { signal } = new AbortController()
      require('node:events').setMaxListeners(0, signal)`,
      `for (let i = from; i < from + 50_000; i++) {
        const release = await locks.acquire([i, i + 1], { signal, timeout: 1000 })
        release()
        if (i % 1000 === 0) await turn()
      }`,
    )
    assert.equal(size, 0)
    assertFew(more)
  })

  it('a collected mutex returns its word, free', async () => {
    const { locked, rss, ...more } = await measured(`
      let locked = 0
      async function drop(count) {
        for (let left = count; left > 0; left -= 10_000) {
          for (let i = 0; i < 10_000; i++) {
            const mutex = new Mutex()
            // Never released by its holder, but the next lock in its place is free.
            if (!mutex.tryLock()) locked++
          }
          await collect()
        }
      }
      await drop(50_000)
      const more = await growth(() => drop(200_000), { objects: 1000, buffers: 400_000 })
      show({ ...more, locked })`)
    assert.equal(locked, 0)
    assertFew(more)
    // 200,000 words would be 800,000 bytes.
    assert.ok(more.buffers <= 400_000, `${more.buffers} bytes more`)
    assert.ok(rss < 50 * mebibyte, `${rss} bytes more`)
  })

  it('a mutex that was shared is collected, too', async () => {
    const more = await measured(`
      async function drop(count) {
        for (let left = count; left > 0; left -= 1000) {
          for (let i = 0; i < 1000; i++) {
            const mutex = new Mutex({ shared: true })
            const other = new Mutex({ buffer: mutex.buffer })
            other.tryLock()
            other.unlock()
          }
          await collect()
        }
      }
      await drop(5000)
      show(await growth(() => drop(20_000), ${JSON.stringify(most)}))`)
    assertFew(more)
  })
})
