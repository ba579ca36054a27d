'use strict'
// Events, latches, barriers and condition variables of scope host: src/host/host_gate.h.
const { lockError } = require('../core/errors.js')
const { nameOf } = require('../core/keys.js')
const native = require('../addon/load.js')
const { SharedBarrier } = require('../process/barrier.js')
const { SharedAutoResetEvent, SharedLatch, SharedManualResetEvent } = require('../process/gates.js')
const { HostCondition } = require('./condition.js')
const { inSegment } = require('./in_segment.js')
const { openSegment } = require('./segment.js')

class HostAutoResetEvent extends inSegment(SharedAutoResetEvent, native.hostEvent) {}

const open = 0
const closed = 1 << native.layout.countdownLatch.countShift

/** A manual-reset event. In C++ it is a latch whose count is 0 or 1. */
class HostManualResetEvent extends inSegment(SharedManualResetEvent, native.hostLatch) {
  constructor(segment, isSet) {
    super(segment, isSet)
    this.idle = isSet ? open : closed
  }

  isSet() {
    return this.read() === open
  }
}
HostManualResetEvent.prototype.argument = { name: 'isSet', of: (word) => word === open }

class HostLatch extends inSegment(SharedLatch, native.hostLatch) {}
class HostBarrier extends inSegment(SharedBarrier, native.hostBarrier) {}

const gates = [HostAutoResetEvent, HostManualResetEvent, HostLatch, HostBarrier, HostCondition]
const gatesByName = new Map(gates.map((Gate) => [Gate.prototype.kind.name, Gate]))

/** What the waiting processes get in turn, by kind, for an error message. */
const inTurn = { 'auto-reset event': 'signals', 'condition variable': 'notifications' }

/** Opens the gate of the kind `kindName` with the constructor's arguments `args`. */
function openHostGate(kindName, args, { host, isStrict }) {
  if (isStrict && kindName in inTurn) {
    const title = `the ${kindName} ${nameOf(host.name)} of this host`
    const message = `${title}: ${inTurn[kindName]} go to the waiting processes in turn; leave out fairness: 'fifo'`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }
  const Gate = gatesByName.get(kindName)
  const lock = new Gate(undefined, ...args)
  lock.segment = openSegment(kindName, lock.idle, host, undefined, lock.argument)
  return lock
}

module.exports = { openHostGate }
