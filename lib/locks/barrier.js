'use strict'
const { LocalBarrier } = require('../core/barrier.js')
const { checkInteger } = require('../core/integers.js')
const { Gate, gate } = require('./gate.js')
const { lockOf } = require('./base.js')

const maxParties = 2 ** 30 - 1

const kind = {
  class: 'Barrier',
  base: gate,
  name: 'barrier',
  isGate: true,
  isUnranked: true,
  bytes: 8,
  local: (parties) => new LocalBarrier(parties),
}

class Barrier extends Gate {
  constructor(parties, options = {}) {
    checkInteger('parties', parties, 1, maxParties)
    super(kind, [parties], options)
  }

  get parties() {
    return lockOf(this, kind, 'parties').parties
  }

  get waiting() {
    return lockOf(this, kind, 'waiting').waiting()
  }

  isBroken() {
    return lockOf(this, kind, 'isBroken').isBroken()
  }

  break() {
    lockOf(this, kind, 'break').break()
  }

  reset() {
    lockOf(this, kind, 'reset').reset()
  }
}

module.exports = { Barrier }
