'use strict'
// A counting semaphore for promises, with weights and priorities. JavaScript takes from the value
// and puts back while nobody waits (see src/weighted_semaphore.h); C++ does all else.
const { Core, kindOf } = require('./core.js')
const { checkCallback, checkObject, readWait } = require('./options.js')
const native = require('./load.js')
const { dressed } = require('./releaser.js')
const { takeNews, Waiter } = require('./waiters.js')

const valueShift = 1
const maxValue = 2 ** 30 - 1
const minValue = -(2 ** 30)
const notTaken = -1

class SemaphoreCore extends Core {
  constructor(value) {
    super(checkedValue(value) << valueShift)
    /** Its word when nobody has taken anything. */
    this.idle = this.word
  }

  getValue() {
    return this.read() >> valueShift
  }

  /** How much less there is than at first. */
  room() {
    return (this.idle >> valueShift) - this.getValue()
  }

  isLocked() {
    return this.getValue() <= 0
  }

  /** The value before `weight` was taken from it, or notTaken: too little, or somebody waits. */
  take(weight) {
    if (this.words !== null) return notTaken
    const before = this.word >> valueShift
    if (before < weight) return notTaken
    this.word = (before - weight) << valueShift
    return before
  }

  acquire(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readAcquire(weightOrOptions, priorityOrOptions)
    if (limits === undefined) {
      const before = this.take(weight)
      if (before !== notTaken) return Promise.resolve([before, releaser(this, weight)])
    }
    return this.enterLine(weight, limits ?? readWait(undefined), Acquirer)
  }

  tryAcquire(weight = 1) {
    checkWeight(weight)
    const before = this.take(weight)
    return before === notTaken ? undefined : [before, releaser(this, weight)]
  }

  async runExclusive(callback, weight, options) {
    checkCallback(callback)
    const [before, release] = await this.acquire(weight, options)
    try {
      return await callback(before)
    } finally {
      release()
    }
  }

  release(weight = 1) {
    checkWeight(weight)
    if (this.words === null && this.getValue() <= maxValue - weight) {
      this.word += weight << valueShift
      if (this.watchers !== null) this.tell(this.getValue(), undefined)
      if (this.home !== null) this.rest()
    } else {
      this.inC((place) => native.semaphoreRelease(place, weight))
    }
  }

  setValue(value) {
    checkedValue(value)
    this.inC((place) => native.semaphoreSetValue(place, value))
  }

  /** A change that C++ makes, and that may let others in. */
  inC(change) {
    this.show()
    try {
      this.dispatch(change(this.place))
    } finally {
      this.calm()
    }
  }

  /** Admits one after the other, each with the value that it found. */
  dispatch(count) {
    const admitted = []
    if (count > 0) takeNews(count, (waiter) => admitted.push(waiter))
    let value = this.getValue()
    for (const waiter of admitted) value += waiter.weight()
    for (const waiter of admitted) {
      const weight = waiter.weight()
      if (this.watchers !== null) this.tell(value, waiter.priority())
      waiter.resolve(Acquirer.value(this, weight, false, value))
      value -= weight
    }
    if (this.watchers !== null) this.tell(value, this.topPriority())
    this.calm()
  }

  hasRoom(weight) {
    return this.getValue() >= weight
  }

  waitForUnlock(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readAcquire(weightOrOptions, priorityOrOptions)
    return this.watch(weight, limits ?? readWait(undefined))
  }
}

SemaphoreCore.prototype.kind = kindOf('semaphore')

/** (weight, priority), (weight, options) or (options): no limits where there is but a weight. */
function readAcquire(weightOrOptions = 1, priorityOrOptions = undefined) {
  if (typeof weightOrOptions !== 'number') {
    checkObject(weightOrOptions)
    const limits = readWait(weightOrOptions)
    const { weight = 1 } = limits
    checkWeight(weight)
    return { weight, limits }
  }
  checkWeight(weightOrOptions)
  const limits = priorityOrOptions === undefined ? undefined : readWait(priorityOrOptions)
  return { weight: weightOrOptions, limits }
}

function checkWeight(weight) {
  if (typeof weight !== 'number') throw new TypeError('weight must be a number')
  if (weight <= 0) throw new RangeError(`invalid weight ${weight}: must be positive`)
  if (!(Number.isInteger(weight) && weight <= maxValue)) {
    throw new RangeError(`invalid weight ${weight}: must be an integer up to ${maxValue}`)
  }
}

function checkedValue(value) {
  if (typeof value !== 'number') throw new TypeError('value must be a number')
  if (!(Number.isInteger(value) && value >= minValue && value <= maxValue)) {
    throw new RangeError(`value must be an integer from ${minValue} to ${maxValue}, not ${value}`)
  }
  return value
}

class Acquirer extends Waiter {
  // At once, as async-mutex does: its order is a promise, too, to the microtask.
  constructor(core, resolve, reject, how) {
    super(core, resolve, reject, how)
    this.reject = reject
  }

  static value(core, weight, _abandoned, before = core.getValue() + weight) {
    return [before, releaser(core, weight)]
  }
}

function releaser(core, weight) {
  const { generation } = core
  let over = false
  const release = () => {
    // A key that has been idle since has been released by others: see KeyedSemaphore.release.
    if (over || core.generation !== generation) return
    over = true
    // Others may have released a part of a key's: it never has more than at first.
    const most = core.home === null ? weight : core.room()
    if (most > 0) core.release(Math.min(weight, most))
  }
  return dressed(release, false)
}

module.exports = { checkedValue, readAcquire, SemaphoreCore }
