'use strict'
// A read-write lock of one thread, step by step beside a model of a few arrays: alone, in memory
// that other threads could know, and as the lock of a key whose neighbours change.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { KeyedRWLock, RWLock } = require('../..')
const { FakeClock } = require('../helpers/fake_clock.js')
const { settled } = require('../helpers/keyed.js')
const { RWLockModel } = require('../helpers/rw_lock_model.js')
const { scaled } = require('../helpers/scale.js')

const codes = {
  ERR_LOCK_TIMEOUT: 'late',
  ERR_LOCK_UPGRADE: 'refused',
  ERR_LOCK_NOT_HELD: 'notHeld',
}

class Alone {
  lock = new RWLock()

  disturb() {}

  checkIdle() {
    assert.ok(this.lock.tryAcquireWrite())
  }
}

class Shared extends Alone {
  lock = new RWLock({ shared: true })
}

class OfKey {
  #locks = new KeyedRWLock()
  lock = this.#ofKey('a')

  #ofKey(key) {
    const locks = this.#locks
    const ofKey = {
      get readers() {
        return locks.readers(key)
      },
      cancel: (reason) => locks.cancel(key, reason),
      onIdle: () => locks.onIdle(),
    }
    for (const method of ['isLocked', 'isWriteLocked', 'acquireRead', 'acquireWrite']) {
      ofKey[method] = (...args) => locks[method](key, ...args)
    }
    for (const method of ['tryAcquireRead', 'tryAcquireWrite']) {
      ofKey[method] = () => locks[method](key)
    }
    return ofKey
  }

  /** Sweeps idle keys, so that a core goes to another key. */
  disturb() {
    const releases = Array.from({ length: 300 }, (_, i) => this.#locks.tryAcquireWrite(i))
    for (const release of releases) release()
  }

  checkIdle() {
    assert.equal(this.#locks.size, 0)
  }
}

/** Runs both, with an independent oracle: the holders, according to JavaScript. */
class Pair {
  clock = new FakeClock()
  expected = new Map()
  seen = new Map()
  /** By id: { controller, release, mode }. */
  requests = []
  /** Which callers of onIdle() have resolved, and which should have. */
  idles = []
  model = new RWLockModel((id, how) => this.expected.set(id, how))

  constructor(subject) {
    this.subject = subject
    this.lock = subject.lock
  }

  #open(mode, timeout) {
    const request = { id: this.requests.length, mode, controller: new AbortController() }
    this.requests.push(request)
    request.until = timeout === 0 ? 0 : this.clock.now + (timeout ?? Infinity)
    request.options = { timeout, signal: request.controller.signal }
    return request
  }

  #follow({ id, mode }, promise) {
    promise.then(
      (release) => this.#admit(id, mode, release),
      (reason) => this.seen.set(id, codes[reason.code] ?? reason),
    )
  }

  #admit(id, mode, release) {
    this.seen.set(id, 'in')
    Object.assign(this.requests[id], { release, mode })
  }

  #which(which) {
    return this.requests[which % this.requests.length]
  }

  acquire({ mode, priority, timeout, isPlain }) {
    const request = this.#open(mode, isPlain ? undefined : timeout)
    request.isPlain = isPlain
    const options = isPlain ? undefined : { ...request.options, priority }
    this.#follow(request, this.lock[`acquire${mode}`](options))
    this.model.acquire({ ...request, priority: isPlain ? 0 : priority })
  }

  tryAcquire({ mode }) {
    const { id } = this.#open(mode)
    const release = this.lock[`tryAcquire${mode}`]()
    if (release !== undefined) this.#admit(id, mode, release)
    else this.seen.set(id, 'no')
    if (!this.model.tryAcquire(id, mode)) this.expected.set(id, 'no')
  }

  /** By its releaser, whether its grant is over or not. */
  release({ which }) {
    const request = this.#which(which)
    request?.release?.()
    if (request?.release !== undefined) this.model.release(request.id)
  }

  #over(reader, change) {
    if (this.model.readers.includes(reader.id)) return false
    assert.throws(change, { code: 'ERR_LOCK_NOT_HELD' })
    return true
  }

  upgrade({ which, timeout }) {
    const reader = this.#which(which)
    if (reader?.release?.upgrade === undefined) return
    if (this.#over(reader, () => reader.release.upgrade())) return
    const request = this.#open('Write', timeout)
    this.#follow(request, reader.release.upgrade(request.options))
    this.model.upgrade({ ...request, reader: reader.id })
  }

  tryUpgrade({ which }) {
    const reader = this.#which(which)
    if (reader?.release?.upgrade === undefined) return
    if (this.#over(reader, () => reader.release.tryUpgrade())) return
    const { id } = this.#open('Write')
    const release = reader.release.tryUpgrade()
    if (release !== undefined) this.#admit(id, 'Write', release)
    else this.seen.set(id, 'no')
    if (!this.model.tryUpgrade(id, reader.id)) this.expected.set(id, 'no')
  }

  downgrade({ which }) {
    const writer = this.#which(which)
    if (writer?.release?.downgrade === undefined) return
    if (this.model.writer !== writer.id) {
      assert.throws(() => writer.release.downgrade(), { code: 'ERR_LOCK_NOT_HELD' })
      return
    }
    const { id } = this.#open('Read')
    this.#admit(id, 'Read', writer.release.downgrade())
    this.model.downgrade(writer.id, id)
  }

  cancel({ which }) {
    this.lock.cancel(which)
    this.model.giveUp(() => true, which)
  }

  abort({ which }) {
    const request = this.#which(which)
    if (request === undefined || request.isPlain) return
    request.controller.abort('aborted')
    this.model.giveUp(({ id }) => id === request.id, 'aborted')
  }

  advance({ which }) {
    this.clock.advance(which)
    const due = this.model.waiting().filter(({ until }) => until <= this.clock.now)
    // Fires one timer after the other: a waiter that one of them admits does not time out.
    due.sort((a, b) => a.until - b.until || a.id - b.id)
    for (const one of due) this.model.giveUp(({ id }) => id === one.id, 'late')
  }

  disturb() {
    this.subject.disturb()
  }

  onIdle() {
    const idle = { isTold: false, isDue: false }
    this.idles.push(idle)
    this.lock.onIdle().then(() => {
      idle.isTold = true
    })
  }

  async compare() {
    await settled()
    assert.deepEqual(this.seen, this.expected)
    const { readers, writer } = this.model
    assert.equal(this.lock.readers, readers.length)
    assert.equal(this.lock.isWriteLocked(), writer !== undefined)
    assert.equal(this.lock.isLocked(), writer !== undefined || readers.length > 0)
    assert.ok(writer === undefined || readers.length === 0)
    const isIdle = !this.lock.isLocked() && this.model.waiting().length === 0
    for (const idle of this.idles) {
      idle.isDue ||= isIdle
      assert.equal(idle.isTold, idle.isDue)
    }
  }

  async end() {
    this.cancel({ which: 0 })
    for (const { release } of this.requests) release?.()
    const ids = [...this.model.readers, this.model.writer].filter((id) => id !== undefined)
    for (const id of ids) this.model.release(id)
    await this.compare()
    assert.equal(this.lock.isLocked(), false)
    assert.equal(this.clock.size, 0)
    this.subject.checkIdle()
  }
}

describe('RWLock: its model', function () {
  this.timeout(120_000)

  const mode = fc.constantFrom('Read', 'Read', 'Write')
  const which = fc.nat(20)
  const timeout = fc.constantFrom(undefined, undefined, 0, 3, 10)
  const op = (method, fields = {}) => fc.record({ method: fc.constant(method), which, ...fields })
  const acquire = {
    mode,
    timeout,
    priority: fc.constantFrom(0, 0, 0, 1, -1, 0.5, Infinity),
    isPlain: fc.boolean(),
  }
  const step = fc.oneof(
    { weight: 8, arbitrary: op('acquire', acquire) },
    { weight: 2, arbitrary: op('tryAcquire', { mode }) },
    { weight: 6, arbitrary: op('release') },
    { weight: 4, arbitrary: op('upgrade', { timeout }) },
    { weight: 1, arbitrary: op('tryUpgrade') },
    { weight: 2, arbitrary: op('downgrade') },
    { weight: 1, arbitrary: op('cancel') },
    { weight: 2, arbitrary: op('abort') },
    { weight: 2, arbitrary: op('advance') },
    { weight: 1, arbitrary: op('disturb') },
    { weight: 1, arbitrary: op('onIdle') },
  )
  const steps = fc.array(step, { maxLength: 60, size: 'max' })

  const play = (Subject) => async () => {
    const run = async (all) => {
      const pair = new Pair(new Subject())
      try {
        for (const step of all) {
          pair[step.method](step)
          await pair.compare()
        }
        await pair.end()
      } finally {
        pair.clock.restore()
      }
    }
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: scaled(2000, 1000) })
  }

  it('of one thread acts as its model, step by step', play(Alone))
  it('in shared memory acts as its model, step by step', play(Shared))
  it('of a key acts as its model, step by step', play(OfKey))
})
