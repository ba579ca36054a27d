'use strict'
// The cores of events, latches, barriers and condition variables of scope host: src/host/host_gate.h.
const { lockError } = require('../core/errors.js')
const { nameOf } = require('../core/keys.js')
const native = require('../addon/load.js')
const { BarrierCore } = require('../process/barrier_core.js')
const { AutoResetCore, ManualResetCore } = require('../process/event_core.js')
const { LatchCore } = require('../process/latch_core.js')
const { HostConditionCore } = require('./condition_core.js')
const { inSegment } = require('./in_segment.js')
const { openSegment } = require('./segment.js')

class HostAutoResetCore extends inSegment(AutoResetCore) {}
HostAutoResetCore.prototype.kind = { name: 'auto-reset event', native: native.hostEvent }

const open = 0
const closed = 2

/** A latch of 0 or 1 in C++. */
class HostManualResetCore extends inSegment(ManualResetCore) {
  constructor(segment, isSet) {
    super(segment, isSet)
    this.idle = isSet ? open : closed
  }

  isSet() {
    return this.read() === open
  }
}
HostManualResetCore.prototype.kind = { name: 'manual-reset event', native: native.hostLatch }

class HostLatchCore extends inSegment(LatchCore) {}
HostLatchCore.prototype.kind = { name: 'countdown latch', native: native.hostLatch }

class HostBarrierCore extends inSegment(BarrierCore) {
  wait(options) {
    return this.segment.whyGone === undefined
      ? super.wait(options)
      : Promise.reject(this.goneError())
  }

  waitSync(limits) {
    this.checkThere()
    return super.waitSync(limits)
  }
}
HostBarrierCore.prototype.kind = { name: 'barrier', native: native.hostBarrier }

const gates = [
  HostAutoResetCore,
  HostManualResetCore,
  HostLatchCore,
  HostBarrierCore,
  HostConditionCore,
]
const gatesByName = new Map(gates.map((Gate) => [Gate.prototype.kind.name, Gate]))

/** What is given to the waiting processes in turn. */
const inTurn = { 'auto-reset event': 'signals', 'condition variable': 'notifications' }

/** The core of a gate of `kind`, constructed with `args`. */
function openHostGate(kindName, args, { host, isStrict }) {
  if (isStrict && kindName in inTurn) {
    const title = `the ${kindName} ${nameOf(host.name)} of this host`
    const message = `${title}: ${inTurn[kindName]} go to the waiting processes in turn; leave out fairness: 'fifo'`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }
  const Gate = gatesByName.get(kindName)
  const core = new Gate(undefined, ...args)
  core.segment = openSegment(kindName, core.idle, host)
  return core
}

module.exports = { openHostGate }
