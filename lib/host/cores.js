'use strict'
// The cores of scope host. Their words lie in a segment from the start, and each of their grants has a fencing
// token.
const { openSegment } = require('./segment.js')
const native = require('../load.js')
const { MutexCore } = require('./mutex_core.js')
const { dressed } = require('../core/releaser.js')
const { RWCore } = require('../process/rw_core.js')
const { SemaphoreCore } = require('../process/semaphore_core.js')
const { SharedKeyMap } = require('../process/shared_key_map.js')
const { keepWith, pinAgain, shareSlot, unpin } = require('../process/shares.js')

const fence = Symbol('fence')

// One function for all releasers: each with a getter of its own would have a hidden class of its own.
const fencingToken = {
  configurable: true,
  enumerable: true,
  get() {
    return this[fence].token()
  },
}

/** The number of a grant of the lock at `place`, drawn when it is first asked for, while isGood(). */
class Fence {
  #place
  #isGood
  #token

  constructor(place, isGood) {
    this.#place = place
    this.#isGood = isGood
  }

  token() {
    if (this.#token === undefined && this.#isGood()) this.#token = native.host.fence(this.#place)
    return this.#token
  }
}

/** Cores of class `Base` in a segment. */
const inSegment = (Base) =>
  class extends Base {
    constructor(segment, ...rest) {
      super(...rest)
      this.segment = segment
      /** That of a key: whether this thread has its slot pinned. Else the slot may be that of another key. */
      this.isPinned = false
    }

    shareByName(name) {
      this.name = name
      this.settleIn(() => shareSlot(this.segment))
      keepWith(this)
    }

    shareByKey(segment, key) {
      this.settleIn(() => shareSlot(segment, key))
      this.share.pins++
      this.isPinned = true
    }

    isIdle() {
      return !this.isPinned
    }

    /** A pin lasts as long as this thread holds its lock or waits for it: one more would take the room of a key. */
    rest() {
      if (!this.isPinned || !super.isIdle() || !unpin(this)) return
      this.generation++
      this.home.drop(this)
    }

    enterLine(weight, limits, Kind) {
      try {
        if (this.segment.whyGone === undefined) return super.enterLine(weight, limits, Kind)
        return this.refuse(weight, this.goneError())
      } finally {
        if (this.home !== null) this.rest() // it may have failed
      }
    }

    dress(release, abandoned, isGood) {
      dressed(release, abandoned)
      release[fence] = new Fence(this.place, isGood)
      return Object.defineProperty(release, 'fencingToken', fencingToken)
    }

    snapshot() {
      return this.seen(native.host.look(this.place))
    }

    // Where its files were removed nothing is granted any more: a process that has come since may hold it.

    tryEnter(weight) {
      this.checkThere()
      return super.tryEnter(weight)
    }

    enterSync(weight, limits) {
      this.checkThere()
      return super.enterSync(weight, limits)
    }

    /** A thread that blocks is let go before its time, too. */
    timeoutError(timeout, waiter) {
      return this.segment.isGone() ? this.goneError() : super.timeoutError(timeout, waiter)
    }

    checkThere() {
      if (this.segment.whyGone !== undefined) throw this.goneError()
    }

    goneError() {
      return this.segment.goneError(this.title())
    }
  }

class HostMutexCore extends inSegment(MutexCore) {
  constructor(segment) {
    super(segment, segment.held)
  }

  take() {
    return this.segment.whyGone === undefined && super.take()
  }

  tryNow() {
    this.checkThere()
    return super.tryNow()
  }
}

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
  ['mutex', HostMutexCore],
  ['semaphore', HostSemaphoreCore],
  ['read-write lock', HostRWCore],
])

/** The segment for locks of that kind, which begin with `start`, and a function that makes cores of it. */
function onHost(name, start, host, segmentKind) {
  const Kind = hostCores.get(name)
  if (Kind === undefined) {
    throw new TypeError(
      `this ${name} reaches no further than its process: there is none of scope 'host'`,
    )
  }
  const segment = openSegment(segmentKind, start, host)
  return { segment, make: () => new Kind(segment, start) }
}

/** The core of scope host of a single lock of that kind; settle() tells it its name. */
function hostCoreOf(name, start, host) {
  return onHost(name, start, host, name).make()
}

/** Cores that know the slot of their key, and have not pinned it: all that they cost is memory of this thread. */
const mostIdle = 1024

class HostHome extends SharedKeyMap {
  constructor(segment, make) {
    super(make, segment.name, segment, mostIdle)
  }

  /** Whether the slot of `core` is that of its key, and pinned. */
  isThere(core) {
    return core.isPinned || pinAgain(core)
  }

  get size() {
    return this.table.size
  }

  keys() {
    return this.table.busy().map(({ key }) => key)
  }

  /** A key that others hold, too, may have no core of ours. */
  see(key, held) {
    if (this.watch === undefined) return { key, ...held }
    return { key, ...this.watch.seen(this.find(key), held) }
  }

  snapshot() {
    return this.table.busy().map(({ key, place }) => this.see(key, native.host.look(place)))
  }
}

const homes = new Map()

/** The home of all maps of this thread with that name, and the same `traits`: it stays. */
function hostHomeOf(name, start, host, traits, segmentKind = `keyed ${name}`, watch = undefined) {
  const { segment, make } = onHost(name, start, host, segmentKind)
  const id = `${segment.number} ${JSON.stringify(traits)} ${watch?.traits}`
  let home = homes.get(id)
  if (home === undefined) {
    const begin = watch === undefined ? make : () => watch.watches(make())
    home = new HostHome(segment, () => Object.assign(begin(), traits))
    homes.set(id, home)
  }
  return home
}

module.exports = { hostCoreOf, hostHomeOf }
