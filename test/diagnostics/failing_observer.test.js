'use strict'
// Diagnostics that fail: the locks go on without them.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { EventEmitter, once } = require('node:events')
const path = require('node:path')
const { ConditionVariable, KeyedMutex, Mutex, RWLock, Semaphore } = require('../..')
const chains = require('../../lib/diagnostics/chains.js')
const { MutexObserver } = require('../../lib/diagnostics/mutex_observer.js')
const { Observer } = require('../../lib/diagnostics/observer.js')
const { scopes } = require('../helpers/scopes.js')
const { useWarnings } = require('../helpers/warnings.js')

const broken = () => {
  throw new Error('a bug in the diagnostics')
}

const code = (expected) => ({ code: expected })

/** The result of `hold()` by another chain of calls: in one chain the waits below would be deadlocks. */
const apart = (hold) =>
  new Promise((resolve, reject) => {
    setImmediate(() => hold().then((release) => resolve(() => release()), reject))
  })

/** Waits that end in each way, of a lock of which `hold()` resolves to a releaser and `wait(limits)` is the next caller. */
async function plays(hold, wait) {
  const release = await apart(hold)
  const next = wait({ timeout: 60_000 })
  const late = assert.rejects(wait({ timeout: 5 }), code('ERR_LOCK_TIMEOUT'))
  await assert.rejects(wait({ timeout: 0 }), code('ERR_LOCK_TIMEOUT'))
  await assert.rejects(wait({ maxPending: 0 }), code('ERR_LOCK_QUEUE_FULL'))
  const aborted = AbortSignal.abort('mine')
  await assert.rejects(wait({ signal: aborted }), (reason) => reason === 'mine')
  assert.equal(await wait({ ifAvailable: true }), undefined)
  await late
  release()
  const last = await next
  last()
  const now = await wait({ ifAvailable: true })
  now()
}

/** Each plays a scene on a lock with `options`, which is free afterwards. */
const scenes = {
  async Mutex(options) {
    const mutex = new Mutex(options)
    await plays(
      () => mutex.acquire(),
      (limits) => mutex.acquire(limits),
    )
    const release = await apart(() => mutex.acquire())
    const other = mutex.lock()
    const canceled = assert.rejects(other, code('ERR_LOCK_CANCELED'))
    mutex.cancel()
    await canceled
    release()
    assert.equal(await mutex.runExclusive(() => 'result'), 'result')
    assert.ok(mutex.tryLock())
    mutex.release()
    mutex.tryAcquire()()
    mutex.acquireSync()()
    assert.equal(mutex.isLocked(), false)
    await mutex.close()
    await assert.rejects(mutex.acquire(), code('ERR_LOCK_CLOSED'))
  },
  async KeyedMutex(options) {
    const locks = new KeyedMutex(options)
    await plays(
      () => locks.acquire('a'),
      (limits) => locks.acquire('a', limits),
    )
    await plays(
      () => locks.acquire('b'),
      (limits) => locks.acquire(['a', 'b'], { maxPending: Infinity, ...limits }),
    )
    locks.tryAcquire('a')()
    assert.equal(locks.size, 0)
  },
  async Semaphore(options) {
    const semaphore = new Semaphore(2, options)
    const releaserOf = async (ticket) => (await ticket)?.[1]
    await plays(
      () => releaserOf(semaphore.acquire(2)),
      (limits) => releaserOf(semaphore.acquire(2, limits)),
    )
    const [, release] = await semaphore.acquire()
    semaphore.release()
    release()
    assert.equal(semaphore.getValue(), 3)
    semaphore.setValue(2)
    semaphore.tryAcquire(2)[1]()
    semaphore.acquireSync(2)[1]()
    assert.equal(semaphore.getValue(), 2)
  },
  async RWLock(options) {
    const reading = new RWLock(options)
    await plays(
      () => reading.acquireWrite(),
      (limits) => reading.acquireRead(limits),
    )
    assert.equal(reading.isLocked(), false)
  },
  async 'RWLock with readers'(options) {
    const lock = new RWLock(options)
    await plays(
      () => lock.acquireRead(),
      (limits) => lock.acquireWrite(limits),
    )
    assert.equal(lock.isLocked(), false)
  },
  async 'RWLock with upgrades'(options) {
    const lock = new RWLock(options)
    const other = await apart(() => lock.acquireRead())
    const reader = await lock.acquireRead()
    await assert.rejects(reader.upgrade({ timeout: 5 }), code('ERR_LOCK_TIMEOUT'))
    const upgraded = reader.upgrade()
    other()
    const writer = await upgraded
    writer.downgrade()()
    lock.tryAcquireRead().tryUpgrade()()
    lock.tryAcquireWrite()()
    lock.acquireWriteSync()()
    assert.equal(lock.isLocked(), false)
  },
  async ConditionVariable(options) {
    const mutex = new Mutex(options)
    const { diagnostics: _, ...others } = options
    const condition = new ConditionVariable(others)
    await mutex.lock()
    const notified = condition.wait(mutex)
    await mutex.lock()
    condition.notifyAll()
    mutex.unlock()
    await notified
    await assert.rejects(condition.wait(mutex, { timeout: 5 }), code('ERR_LOCK_TIMEOUT'))
    mutex.unlock()
    assert.equal(mutex.isLocked(), false)
  },
}

/** Replaces the method of all observers by `make(method)`, until the returned function is called. */
function replace(name, make) {
  const classes = [Observer, MutexObserver].filter(({ prototype }) =>
    Object.hasOwn(prototype, name),
  )
  const originals = classes.map(({ prototype }) => prototype[name])
  classes.forEach(({ prototype }, i) => {
    prototype[name] = make(originals[i])
  })
  return () => {
    classes.forEach(({ prototype }, i) => {
      prototype[name] = originals[i]
    })
  }
}

const methods = [
  'waiting',
  'gaveUp',
  'refused',
  'granted',
  'ended',
  'endedOldest',
  'timedOut',
  'gave',
]
const { emitWarning } = process

describe('An observer that throws', () => {
  let warnings
  let restore
  before(() => {
    process.emitWarning = (message, options) => warnings.push({ message, ...options })
  })
  beforeEach(() => {
    warnings = []
  })
  afterEach(() => restore())
  after(() => {
    process.emitWarning = emitWarning
  })

  for (const [scope, begin] of Object.entries(scopes)) {
    if (scope === 'engine') continue
    describe(`in scope ${scope}`, () => {
      const newOptions = begin()
      for (const diagnostics of ['counters', true]) {
        for (const [name, scene] of Object.entries(scenes)) {
          for (const method of methods) {
            it(`in ${method}() leaves a ${name} free, with ${diagnostics}`, async () => {
              restore = replace(method, () => broken)
              await scene({ ...(await newOptions()), diagnostics, allowBlockingMainThread: true })
            })
          }
        }
      }

      it('in blocks() does not hide that the thread has the lock', async () => {
        const breaksAfter = (blocks) =>
          function (...args) {
            blocks.apply(this, args)
            broken()
          }
        restore = replace('blocks', breaksAfter)
        const options = { diagnostics: true, allowBlockingMainThread: true }
        const semaphore = new Semaphore(1, { ...(await newOptions()), ...options })
        const [, release] = semaphore.acquireSync()
        assert.equal(semaphore.getValue(), 0)
        release()
        assert.equal(semaphore.getValue(), 1)
      })
    })
  }

  it('in ended() leaves no hold that counts for deadlocks', async () => {
    restore = replace('ended', () => broken)
    const [a, b] = [1, 2].map(() => new Mutex({ diagnostics: true }))
    const [released, held] = [1, 2].map(() => new EventEmitter())
    const chain = (run) =>
      new Promise((resolve, reject) => setImmediate(() => run().then(resolve, reject)))
    const isReleased = once(released, 'release')
    const isHeld = once(held, 'hold')
    const first = chain(async () => {
      const release = await a.acquire()
      release()
      released.emit('release')
      await isHeld
      const last = await b.acquire()
      last()
    })
    const second = chain(async () => {
      const release = await b.acquire()
      await isHeld
      const inner = await a.acquire()
      inner()
      release()
    })
    await isReleased
    const release = await apart(() => a.acquire())
    held.emit('hold')
    while (a.snapshot().waiting + b.snapshot().waiting < 2) await new Promise(setImmediate)
    for (let i = 0; i < 10; i++) await new Promise(setImmediate)
    release()
    await Promise.all([first, second])
  })

  it('is reported by a warning if the search for deadlocks fails, and the locks go on', async () => {
    const { changed } = chains
    chains.changed = () => {
      throw new Error('a bug in the search')
    }
    restore = () => {
      chains.changed = changed
    }
    const mutex = new Mutex({ diagnostics: true })
    const release = await mutex.acquire()
    const next = mutex.acquire()
    for (let i = 0; i < 3; i++) await new Promise(setImmediate)
    release()
    ;(await next)()
    assert.equal(mutex.isLocked(), false)
    const [{ message, code }] = warnings
    assert.equal(code, 'BOXOFFICE_DIAGNOSTICS_FAILED')
    assert.match(message, /^the search for deadlocks has failed .*: a bug in the search$/)
  })

  it('is reported by one warning for each lock', async () => {
    restore = replace('granted', () => broken)
    const mutex = new Mutex({ diagnostics: true })
    for (let i = 0; i < 3; i++) (await mutex.acquire())()
    await new Promise(setImmediate)
    const [{ message, type, code, detail }, ...others] = warnings
    assert.deepEqual(others, [])
    assert.deepEqual([type, code], ['BoxofficeWarning', 'BOXOFFICE_DIAGNOSTICS_FAILED'])
    assert.match(message, /^the diagnostics of the mutex have failed .*: a bug in the diagnostics$/)
    assert.match(detail, /failing_observer/)
  })
})

describe('Diagnostics where the program formats stacks by a function that throws', () => {
  it('go on where the function cannot be replaced', () => {
    const script = `
      const set = () => { throw new Error('mine') }
      Object.defineProperty(Error, 'prepareStackTrace', { get() {}, set })
      const { Mutex } = require(${JSON.stringify(path.join(__dirname, '../..'))})
      const mutex = new Mutex({ diagnostics: true })
      const inner = async () => mutex.runExclusive(() => {}, { timeout: 50 })
      const outer = async () => { await inner() }
      mutex.runExclusive(outer).catch(({ code }) => console.log(code, mutex.isLocked()))`
    const args = ['--no-warnings', '-e', script]
    const shown = execFileSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(shown, 'ERR_LOCK_TIMEOUT false\n')
  })

  it('grant, time out and release', () => {
    const script = `
      Error.prepareStackTrace = () => { throw new Error('mine') }
      const { Mutex } = require(${JSON.stringify(path.join(__dirname, '../..'))})
      const mutex = new Mutex({ diagnostics: true })
      const release = mutex.tryAcquire()
      mutex.acquire({ timeout: 1 }).catch(({ code }) => {
        release()
        setImmediate(() => console.log(code, mutex.isLocked()))
      })`
    const args = ['--no-warnings', '-e', script]
    const shown = execFileSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(shown, 'ERR_LOCK_TIMEOUT false\n')
  })
})

describe('Diagnostics where Error is frozen', () => {
  // Warnings that repeat those of the tests above come a second later.
  useWarnings('BOXOFFICE_DIAGNOSTICS_FAILED')

  const script = `
    const { Mutex, Semaphore } = require(${JSON.stringify(path.join(__dirname, '../..'))})
    const show = []
    for (const options of [{}, { name: 'frozen' }]) {
      const mutex = new Mutex({ ...options, diagnostics: true })
      const semaphore = new Semaphore(1, { ...options, diagnostics: true })
      const release = mutex.tryAcquire()
      mutex.acquire({ timeout: 1 }).catch(({ code, stack }) => {
        show.push(code + stack.includes('[eval]'), mutex.snapshot().holders.length)
        release()
        semaphore.tryAcquire()[1]()
        show.push(mutex.isLocked(), semaphore.getValue())
      })
    }
    process.on('exit', () => console.log(JSON.stringify(show)))`
  const expected = ['ERR_LOCK_TIMEOUTtrue', 1, false, 1]

  for (const [name, flags, before] of [
    ['by --frozen-intrinsics', ['--frozen-intrinsics'], ''],
    ['by the program', [], 'Object.freeze(Error);'],
    ['and has no frames', [], 'delete Error.captureStackTrace; Object.freeze(Error);'],
  ]) {
    it(`grant and release: ${name}`, () => {
      const args = ['--no-warnings', ...flags, '-e', before + script]
      const show = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
      const [stack] = name.includes('no frames') ? ['ERR_LOCK_TIMEOUTfalse'] : expected
      assert.deepEqual(
        show.sort(),
        [...expected.slice(1), stack, ...expected.slice(1), stack].sort(),
      )
    })
  }

  it('names the caller of a holder', () => {
    const names = `
      const { RWLock, Semaphore } = require(${JSON.stringify(path.join(__dirname, '../..'))})
      const semaphore = new Semaphore(1, { diagnostics: true })
      semaphore.acquire()
      const lock = new RWLock({ diagnostics: true })
      lock.runExclusive(() => {
        const stacks = [semaphore, lock].map((one) => one.snapshot().holders[0].stack)
        console.log(JSON.stringify(stacks.map((stack) => /\\[eval\\]:\\d+/.test(stack))))
      })`
    const args = ['-e', `Object.freeze(Error);${names}`]
    assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), '[true,true]\n')
  })
})
