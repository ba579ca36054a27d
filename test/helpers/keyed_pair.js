'use strict'
const assert = require('node:assert/strict')
const { KeyedMutex } = require('../..')
const { FakeClock } = require('./fake_clock.js')
const { busyIn, churn, settled } = require('./keyed.js')
const { KeyedModel } = require('./keyed_model.js')

const keyName = ({ key }) => `${typeof key} ${key}`

/** Both, side by side, and an independent oracle. */
class Pair {
  locks = new KeyedMutex()
  clock = new FakeClock()
  expected = new Map()
  seen = new Map()
  requests = []
  inside = new Map()
  model = new KeyedModel((id, how) => this.expected.set(id, how))

  ask({ way, key, priority, timeout, isAborted, isNested }) {
    const id = this.requests.length
    const controller = new AbortController()
    if (isAborted) controller.abort('aborted')
    const { locks } = this
    const options = {
      get priority() {
        if (isNested) churn(locks, 300, key)
        return priority
      },
      timeout,
      signal: controller.signal,
    }
    const isPlain = priority === 0 && timeout === undefined && !isAborted && !isNested
    const promise = locks[way](key, isPlain ? undefined : options)
    const request = { id, key, priority, controller, isPlain, release: undefined }
    request.until = timeout === 0 ? 0 : this.clock.now + (timeout ?? Infinity)
    this.requests.push(request)
    promise.then(
      (release) => this.admit(request, way, release),
      (reason) => this.seen.set(id, reason.code === 'ERR_LOCK_TIMEOUT' ? 'late' : reason),
    )
    if (isAborted) this.expected.set(id, 'aborted')
    else this.model[way](request)
  }

  admit(request, way, release) {
    this.seen.set(request.id, way === 'acquire' ? 'in' : 'told')
    if (way !== 'acquire') return
    assert.equal(this.inside.get(request.key), undefined, `oracle: two in ${request.key}`)
    this.inside.set(request.key, request.id)
    request.release = release
  }

  /** By its releaser, whether its grant has ended or not. */
  release({ which }) {
    const request = this.requests[which % this.requests.length]
    if (request?.release === undefined) return
    if (this.inside.get(request.key) === request.id) this.inside.delete(request.key)
    request.release()
    this.model.release(request.key, request.id)
  }

  free({ key }) {
    this.inside.delete(key)
    this.locks.release(key)
    this.model.release(key)
  }

  cancel({ key, which }) {
    this.locks.cancel(key, which)
    this.model.cancel(key, which)
  }

  cancelAll({ which }) {
    this.locks.cancelAll(which)
    for (const { key } of this.model.snapshot()) this.model.cancel(key, which)
  }

  abort({ which }) {
    const request = this.requests[which % this.requests.length]
    if (request === undefined || request.isPlain) return
    request.controller.abort('aborted')
    this.model.giveUp((one) => one === request, 'aborted')
  }

  advance({ which }) {
    this.clock.advance(which)
    this.model.giveUp(({ until }) => until <= this.clock.now, 'late')
  }

  churn({ which }) {
    churn(this.locks, 250 + which)
  }

  async compare() {
    await settled()
    assert.deepEqual(this.seen, this.expected)
    const byKey = (a, b) => (keyName(a) < keyName(b) ? -1 : 1)
    const snapshot = this.model.snapshot().sort(byKey)
    assert.deepEqual(this.locks.snapshot().sort(byKey), snapshot)
    assert.equal(this.locks.size, snapshot.length)
    assert.deepEqual(busyIn(this.locks), new Set(snapshot.map(({ key }) => key)))
    for (const { key } of snapshot) assert.ok(this.locks.isLocked(key))
  }
}

module.exports = { Pair }
