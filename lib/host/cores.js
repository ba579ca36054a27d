'use strict'
// The cores of scope host, and the key maps of them.
const { HostKeyMap } = require('./key_map.js')
const { inSegment } = require('./in_segment.js')
const { openSegment } = require('./segment.js')
const native = require('../load.js')
const { RWCore } = require('../process/rw_core.js')
const { SemaphoreCore } = require('../process/semaphore_core.js')

class HostSemaphoreCore extends inSegment(SemaphoreCore) {
  getValue() {
    return native.hostSemaphore.value(this.place)
  }
}
HostSemaphoreCore.prototype.kind = { name: 'semaphore', native: native.hostSemaphore }

class HostRWCore extends inSegment(RWCore) {
  /** Those of this process, and one for each other process that reads. */
  readers() {
    return native.hostRWLock.readers(this.place)
  }

  tryNow(ask, releaser) {
    this.checkThere()
    return super.tryNow(ask, releaser)
  }

  upgrade(grant, limits) {
    if (this.segment.whyGone === undefined) return super.upgrade(grant, limits)
    return Promise.reject(this.goneError())
  }

  tryUpgrade(grant) {
    this.checkThere()
    return super.tryUpgrade(grant)
  }

  isWritten() {
    return native.hostRWLock.isWritten(this.place) === 1
  }
}
HostRWCore.prototype.kind = { name: 'read-write lock', native: native.hostRWLock }

const hostCores = new Map([
  ['semaphore', HostSemaphoreCore],
  ['read-write lock', HostRWCore],
])

/** The segment for locks of that kind, which begin with `start`, and a function that makes cores of it. */
function onHost(name, start, host, segmentKind) {
  const Kind = hostCores.get(name)
  const segment = openSegment(segmentKind, start, host)
  return { segment, make: () => new Kind(segment, start) }
}

/** The core of scope host of a single lock of that kind; settle() tells it its name. */
function hostCoreOf(name, start, host) {
  return onHost(name, start, host, name).make()
}

const keyMaps = new Map()

/** The key map of all objects of this thread with that name, and the same `traits`: it stays. */
function hostKeyMapOf(name, start, host, traits, segmentKind = `keyed ${name}`, watch = undefined) {
  const { segment, make } = onHost(name, start, host, segmentKind)
  const id = `${segment.number} ${JSON.stringify(traits)} ${watch?.traits}`
  let keyMap = keyMaps.get(id)
  if (keyMap === undefined) {
    const begin = watch === undefined ? make : () => watch.watches(make())
    keyMap = new HostKeyMap(segment, () => Object.assign(begin(), traits))
    keyMaps.set(id, keyMap)
  }
  return keyMap
}

module.exports = { hostCoreOf, hostKeyMapOf }
