'use strict'
const { LocalLatch } = require('../core/gates.js')
const { checkInteger } = require('../core/integers.js')
const { Gate, gate } = require('./gate.js')
const { lockOf } = require('./base.js')

const maxCount = 2 ** 31 - 1

const kind = {
  class: 'CountdownLatch',
  base: gate,
  name: 'countdown latch',
  isGate: true,
  isUnranked: true,
  bytes: 8,
  local: (count) => new LocalLatch(count),
}

class CountdownLatch extends Gate {
  constructor(count, options = {}) {
    checkInteger('count', count, 0, maxCount)
    super(kind, [count], options)
  }

  get count() {
    return lockOf(this, kind, 'count').count()
  }

  countDown(n = 1) {
    const lock = lockOf(this, kind, 'countDown')
    checkInteger('n', n, 1, maxCount)
    lock.countDown(n)
  }

  tryWait() {
    return lockOf(this, kind, 'tryWait').tryWait()
  }
}

module.exports = { CountdownLatch }
