'use strict'
// A counting semaphore for promises, with weights and priorities. JavaScript takes from the value
// and puts back while nobody waits (see src/weighted_semaphore.h); C++ does all else.
const { Core, kindOf, line } = require('./core.js')
const { checkCallback, checkObject, readWait } = require('./options.js')
const native = require('./load.js')
const { dressed } = require('./releaser.js')
const { takeNews } = require('./waiters.js')

const kind = kindOf('semaphore')
const valueShift = 1
const maxValue = 2 ** 30 - 1
const minValue = -(2 ** 30)
const notTaken = -1

class SemaphoreCore extends Core {
  constructor(value, home = null) {
    super(kind, home)
    this.initial = value
    checkValue(value)
    Atomics.store(this.words, this.index, value << valueShift)
  }

  getValue() {
    return Atomics.load(this.words, this.index) >> valueShift
  }

  isLocked() {
    return this.getValue() <= 0
  }

  isIdle() {
    const { words, index, watchers, pins } = this
    const word = Atomics.load(words, index)
    return word === this.initial << valueShift && watchers === null && pins === 0
  }

  /** The value before `weight` was taken from it, or notTaken: too little, or somebody waits. */
  take(weight) {
    const word = Atomics.load(this.words, this.index)
    const before = word >> valueShift
    return (word & line) === 0 && before >= weight && this.change(word, before - weight)
      ? before
      : notTaken
  }

  change(word, value) {
    return Atomics.compareExchange(this.words, this.index, word, value << valueShift) === word
  }

  acquire(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readAcquire(weightOrOptions, priorityOrOptions)
    if (limits === undefined) {
      const before = this.take(weight)
      if (before !== notTaken) return Promise.resolve([before, releaser(this, weight)])
    }
    return this.enterLine(weight, limits ?? readWait(undefined), grantOf)
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
    const word = Atomics.load(this.words, this.index)
    const before = word >> valueShift
    const alone = (word & line) === 0 && before <= maxValue - weight
    if (alone && this.change(word, before + weight)) {
      if (this.watchers !== null) this.tell(before + weight, undefined)
      if (this.home !== null && this.isIdle()) this.home.drop(this)
    } else {
      this.dispatch(native.semaphoreRelease(this.region, this.index, weight))
    }
  }

  setValue(value) {
    checkValue(value)
    this.dispatch(native.semaphoreSetValue(this.region, this.index, value))
  }

  /** Admits one after the other, each with the value that it found. */
  dispatch(count) {
    const admitted = []
    if (count > 0) takeNews(count, (waiter) => admitted.push(waiter))
    let value = this.getValue()
    for (const { weight } of admitted) value += weight
    for (const waiter of admitted) {
      if (this.watchers !== null) this.tell(value, waiter.priority)
      waiter.resolve(waiter.settled(this, waiter.weight, false, value))
      value -= waiter.weight
    }
    if (this.watchers !== null) this.tell(value, this.topPriority())
    if (this.home !== null && this.isIdle()) this.home.drop(this)
  }

  admit(waiter) {
    waiter.resolve(waiter.settled(this, waiter.weight))
  }

  hasRoom(weight) {
    return this.getValue() >= weight
  }

  waitForUnlock(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readAcquire(weightOrOptions, priorityOrOptions)
    return this.watch(weight, limits ?? readWait(undefined))
  }
}

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

function checkValue(value) {
  if (typeof value !== 'number') throw new TypeError('value must be a number')
  if (!(Number.isInteger(value) && value >= minValue && value <= maxValue)) {
    throw new RangeError(`value must be an integer from ${minValue} to ${maxValue}, not ${value}`)
  }
}

function grantOf(core, weight, _abandoned, before = core.getValue() + weight) {
  return [before, releaser(core, weight)]
}

function releaser(core, weight) {
  let over = false
  const release = () => {
    if (over) return
    over = true
    core.release(weight)
  }
  return dressed(release, false)
}

module.exports = { checkValue, readAcquire, SemaphoreCore }
