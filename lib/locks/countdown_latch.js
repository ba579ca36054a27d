'use strict'
const { LocalLatch } = require('../core/gates.js')
const { Gate, gate, unranked } = require('./gate.js')
const { lockOf } = require('./single.js')

const maxCount = 2 ** 31 - 1

const kind = {
  class: 'CountdownLatch',
  base: gate,
  name: 'countdown latch',
  isGate: true,
  bytes: 8,
  local: (count) => new LocalLatch(count),
}

class CountdownLatch extends Gate {
  constructor(count, options = {}) {
    checkCount('count', count, 0)
    super(kind, [count], options)
  }

  get count() {
    return lockOf(this, kind, 'count').count()
  }

  countDown(n = 1) {
    const lock = lockOf(this, kind, 'countDown')
    checkCount('n', n, 1)
    lock.countDown(n)
  }

  tryWait() {
    return lockOf(this, kind, 'tryWait').tryWait()
  }
}
CountdownLatch.prototype[unranked] = true

function checkCount(what, count, least) {
  if (typeof count !== 'number') throw new TypeError(`${what} must be a number`)
  if (!(Number.isInteger(count) && count >= least && count <= maxCount)) {
    throw new RangeError(`${what} must be an integer from ${least} to ${maxCount}, not ${count}`)
  }
}

module.exports = { CountdownLatch }
