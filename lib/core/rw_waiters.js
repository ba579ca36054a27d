'use strict'
// The kinds of callers of a read-write lock of one thread (rw_lock.js): a reader, a writer, and a reader that upgrades.
// Each kind decides when it fits, and whether its caller gets a releaser or, to run a callback, a grant.
const { RWGrant, readReleaser, writeReleaser } = require('./rw_releaser.js')
const { setTraits, Waiter } = require('./waiter.js')

class Reader extends Waiter {
  static fits(lock) {
    return !lock.hasWriter && lock.upgrader === null
  }

  static valueOf(lock) {
    return readReleaser(lock)
  }

  static enter(lock) {
    lock.readerCount++
  }
}
setTraits(Reader, { mode: 'shared' })

class Writer extends Waiter {
  static fits(lock) {
    return !lock.hasWriter && lock.readerCount === 0
  }

  static valueOf(lock) {
    return writeReleaser(lock)
  }

  static enter(lock) {
    lock.hasWriter = true
  }
}

/** Derives from `Kind` a waiter that runs a callback: it gets a grant, which costs less than a releaser. */
const granted = (Kind) =>
  class extends Kind {
    static valueOf(lock) {
      return new RWGrant(lock)
    }
  }

const ReadRunner = granted(Reader)
const WriteRunner = granted(Writer)

class Upgrader extends Waiter {
  constructor(resolve, limits, grant) {
    super(resolve, limits)
    this.grant = grant
    grant.pending = this
  }

  end() {
    this.grant.pending = null
    super.end()
  }
}

module.exports = { Reader, ReadRunner, Upgrader, Writer, WriteRunner }
