'use strict'
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')
const { useHosts } = require('../helpers/hosts.js')

const count = 10
const helper = require.resolve('../helpers/vm_instances.js')
const inHelper = (code) =>
  inChild(
    `const { contextsLeft, left, runInContext } = require(${JSON.stringify(helper)})
     const { setTimeout: after } = require('node:timers/promises')
     ${code}`,
    '--expose-gc',
  )

/**
 * The number of contexts left of `count` in which `use` has run, after `prelude` outside of them.
 */
async function leftAfter(use, prelude = '') {
  const [shown] = await inHelper(
    `${prelude}; show(await contextsLeft(${JSON.stringify(use)}, { count: ${count} }))`,
  )
  return shown
}

/** Later code throws if it loads the addon. */
const withoutAddon = "process.env.BOXOFFICE_BINARY = 'no addon'"

const all = "const all = require('../lib/index.js')"
const cycle = `
  const release = await lock.acquire()
  const waiting = lock.acquire()
  release()
  const next = await waiting
  next()`
const weighted = `
  const [, release] = await lock.acquire()
  const waiting = lock.acquire()
  release()
  const [, next] = await waiting
  next()`

const uses = {
  'only loads it': all,
  'uses a Mutex by name': `${all}; const lock = new all.Mutex({ name: 'a' }); ${cycle}`,
  'uses a Mutex by its buffer': `${all}; const { buffer } = new all.Mutex({ shared: true })
    globalThis.buffer = buffer
    const lock = new all.Mutex({ buffer }); ${cycle}`,
  'uses a shared Semaphore': `${all}; const lock = new all.Semaphore(1, { shared: true }); ${weighted}`,
  'uses a shared RWLock': `${all}; const lock = new all.RWLock({ shared: true })
    await Promise.all([lock.runExclusive(() => {}), lock.runShared(() => {})])`,
  'uses a KeyedMutex by name': `${all}; const lock = new all.KeyedMutex({ name: 'a' })
    await Promise.all([lock.runExclusive(1, () => {}), lock.runExclusive(1, () => {})])`,
  'holds a Mutex by name for ever': `${all}; const lock = new all.Mutex({ name: String(Math.random()) })
    await lock.acquire()
    lock.acquire()`,
  'never ends a request of the lock manager': `${all}
    await all.locks.request(String(Math.random()), async () => {})
    all.locks.request(String(Math.random()), () => new Promise(() => {}))`,
  'uses counters, and a warning that is far off': `${all}
    const lock = new all.Mutex({ diagnostics: 'counters', warnAfter: 1_000_000 }); ${cycle}`,
  'uses full diagnostics': `${all}; const lock = new all.Mutex({ diagnostics: true }); ${cycle}
    await all.snapshot()`,
}

const usesOfOneThread = {
  'a Mutex': `const lock = new all.Mutex(); ${cycle}`,
  'a Semaphore': `const lock = new all.Semaphore(1); ${weighted}`,
  'an RWLock': `const lock = new all.RWLock()
    await Promise.all([lock.runExclusive(() => {}), lock.runShared(() => {})])`,
  'a RecursiveMutex': `const lock = new all.RecursiveMutex()
    await lock.runExclusive(() => lock.runExclusive(() => {}))`,
  'keyed locks': `
    await new all.KeyedMutex().runExclusive('a', () => {})
    await new all.KeyedSemaphore(2).runExclusive('a', () => {})
    await new all.KeyedRWLock().runShared('a', () => {})
    ;(await new all.DiningPhilosophers(2).begin(0)).release()`,
  'a ConditionVariable': `const lock = new all.Mutex()
    const condition = new all.ConditionVariable()
    await lock.acquire()
    const waiting = condition.wait(lock)
    condition.notifyOne()
    await waiting`,
  'events, latches and barriers': `
    const event = new all.AutoResetEvent()
    const latch = new all.CountdownLatch(1)
    const waiting = [event.wait(), latch.wait()]
    event.signal()
    latch.countDown()
    const barrier = new all.Barrier(2)
    await Promise.all([...waiting, barrier.wait(), barrier.wait()])`,
  'timeouts and signals': `const lock = new all.Mutex()
    await lock.acquire()
    const signal = AbortSignal.abort()
    await Promise.allSettled([lock.acquire({ timeout: 1 }), lock.acquire({ signal })])`,
  'waits that never end': `const lock = new all.Mutex()
    await lock.acquire()
    lock.acquire()
    new all.CountdownLatch(2).wait()
    new all.ManualResetEvent().wait()`,
}

describe('a vm context that evaluates the package anew', function () {
  this.timeout(120_000)

  it('is collected, with async-mutex as the control', async () => {
    const control = `const { Mutex } = require('async-mutex'); const lock = new Mutex(); ${cycle}`
    const expected = await leftAfter(control)
    assert.ok(expected <= 1, `${expected} of ${count} contexts with async-mutex are left`)
  })

  for (const [what, use] of Object.entries(uses)) {
    it(`is collected when it ${what}`, async () => {
      const contexts = await leftAfter(use)
      assert.ok(contexts <= 1, `${contexts} of ${count} contexts are left`)
    })
  }

  describe('with locks of one thread only', () => {
    it('cannot load the addon in these tests', async () => {
      const use = `${all}; new all.Mutex({ name: 'a' })`
      await assert.rejects(leftAfter(use, withoutAddon), /boxoffice cannot load its addon/)
    })

    for (const [what, use] of Object.entries(usesOfOneThread)) {
      it(`is collected, and loads no addon for ${what}`, async () => {
        const contexts = await leftAfter(`${all}; ${use}`, withoutAddon)
        assert.ok(contexts <= 1, `${contexts} of ${count} contexts are left`)
      })
    }
  })

  describe('with locks of scope host', () => {
    const hosts = useHosts()

    it('is collected, and its held locks go to the next holder as abandoned', async () => {
      const options = `{ scope: 'host', directory: ${JSON.stringify(hosts.directory)}, name: 'a' }`
      const [contexts, abandoned] = await inHelper(`
        const { context } = await runInContext(\`${all}
          await new all.Mutex(${options}).acquire()\`)
        const waiting = new Mutex(${options}).acquire()
        show(await left([context]))
        show((await waiting).abandoned)`)
      assert.deepEqual([contexts, abandoned], [0, true])
    })

    it('stays while it waits, is admitted, and then collected', async () => {
      const options = `{ scope: 'host', directory: ${JSON.stringify(hosts.directory)}, name: 'b' }`
      const shown = await inHelper(`
        const release = await new Mutex(${options}).acquire()
        let admit
        const admitted = new Promise((resolve) => { admit = resolve })
        const { context } = await runInContext(\`${all}
          new all.Mutex(${options}).acquire().then((release) => { release(); admit(true) })\`, { admit })
        show(await left([context]))
        release()
        show(await Promise.race([admitted, after(10_000, 'not admitted', { ref: false })]))
        show(await left([context]))
        // Another wake-up, which the context's loop must not receive any more.
        const again = await new Mutex(${options}).acquire()
        const last = new Mutex(${options}).acquire()
        again()
        show((await last).abandoned)`)
      assert.deepEqual(shown, [1, true, 0, false])
    })
  })

  it('leaves a Mutex that it held by name to the next holder as abandoned', async () => {
    const [contexts, abandoned] = await inHelper(`
      const { context } = await runInContext(\`${all}
        await new all.Mutex({ name: 'a' }).acquire()\`)
      const waiting = new Mutex({ name: 'a' }).acquire()
      show(await left([context]))
      show((await waiting).abandoned)`)
    assert.deepEqual([contexts, abandoned], [0, true])
  })

  const waits = {
    'a Mutex': ['new all.Mutex({ name })', "new Mutex({ name: 'a' })"],
    'a KeyedMutex': ['new all.KeyedMutex({ name })', "new KeyedMutex({ name: 'a' })", "'key'"],
  }
  for (const [what, [theirs, ours, key = '']] of Object.entries(waits)) {
    it(`stays while it waits for ${what} that others hold, is admitted, and then collected`, async () => {
      const shown = await inHelper(`
        const release = await ${ours}.acquire(${key})
        let admit
        const admitted = new Promise((resolve) => { admit = resolve })
        const { context } = await runInContext(\`${all}
          const name = 'a'
          ${theirs}.acquire(${key}).then((release) => { release(); admit(true) })\`, { admit })
        show(await left([context]))
        release()
        show(await Promise.race([admitted, after(10_000, 'not admitted', { ref: false })]))
        show(await left([context]))`)
      assert.deepEqual(shown, [1, true, 0])
    })
  }

  it('is admitted when another thread releases', async () => {
    const shown = await inHelper(`
      const worker = new Worker(\`
        const { parentPort } = require('node:worker_threads')
        const { Mutex } = require(\${JSON.stringify(entry)})
        new Mutex({ name: 'a' }).acquire().then((release) => {
          parentPort.postMessage('held')
          parentPort.once('message', () => { release() })
        })\`, { eval: true })
      await new Promise((resolve) => worker.once('message', resolve))
      let admit
      const admitted = new Promise((resolve) => { admit = resolve })
      const { context } = await runInContext(\`${all}
        new all.Mutex({ name: 'a' }).acquire().then((release) => { release(); admit(true) })\`, { admit })
      show(await left([context]))
      worker.postMessage('release')
      show(await Promise.race([admitted, after(10_000, 'not admitted', { ref: false })]))
      show(await left([context]))
      await worker.terminate()`)
    assert.deepEqual(shown, [1, true, 0])
  })
})
