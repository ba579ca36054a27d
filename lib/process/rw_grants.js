'use strict'
// What a read-write lock grants: releasers of readers, which can upgrade, and of writers, which can
// downgrade; and those who wait for them.
const { checkMayBlock } = require('../lock_options.js')
const { readSyncWait, readWait } = require('../core/options.js')
const { dressed, unseen } = require('../core/releaser.js')
const { endedError } = require('../core/rw_errors.js')
const { checkStackToRelease } = require('../core/stack.js')
const { giveUp, Waiter } = require('./waiters.js')

/** What one releaser stands for. */
class Grant {
  isOver = false
  /** A reader's wait to become the writer. */
  pending = null
  /** What an observer knows of it. */
  hold = undefined

  constructor(core) {
    this.core = core
  }

  endRead() {
    if (this.isOver) return
    checkStackToRelease()
    this.isOver = true
    if (this.pending !== null) {
      giveUp(this.pending, this.ended())
      // Too late: it is the writer already, and lets go when it hears of it.
      if (this.pending !== null) return
    }
    this.core.endRead(this)
  }

  endWrite() {
    if (this.isOver) return
    checkStackToRelease()
    this.isOver = true
    this.core.endWrite(this)
  }

  endUnseen(isWriter) {
    if (this.isOver) return
    checkStackToRelease()
    this.isOver = true
    this.core.abandon(isWriter, this)
  }

  becomeWriter(abandoned) {
    const { core } = this
    this.isOver = true
    if (core.observer !== null) core.observer.ended(this.hold, 1)
    core.endedReading()
    const release = writeReleaser(core, abandoned)
    core.changed()
    return release
  }

  becomeReader() {
    checkStackToRelease()
    this.isOver = true
    return this.core.downgrade(this)
  }

  ended() {
    return endedError(this.core)
  }
}

const grantKey = Symbol('grant')

/** The grant of a releaser, which is still good. */
function grantOf(release) {
  const grant = release[grantKey]
  if (grant.isOver) throw grant.ended()
  return grant
}

// Methods of releasers, one function for all of them.

function upgrade(options) {
  // Before we look: options may have getters, and they may let go.
  const limits = readWait(options)
  const grant = grantOf(this)
  return grant.core.upgrade(grant, limits)
}

function tryUpgrade() {
  const grant = grantOf(this)
  return grant.core.tryUpgrade(grant)
}

function upgradeSync(options) {
  checkMayBlock(this[grantKey].core.mayBlock, 'upgradeSync')
  const limits = readSyncWait(options)
  const grant = grantOf(this)
  return grant.core.upgradeSync(grant, limits)
}

function downgrade() {
  return grantOf(this).becomeReader()
}

/** The observer hears that a caller is in, which gets `release`. */
function observeReleaser(core, release, mode, isAbandoned) {
  release[grantKey].hold = core.observeGrant(mode, 1, isAbandoned)
  core.observer.gave(release)
}

function readReleaser(core, abandoned, isObserved = core.observer !== null) {
  const grant = new Grant(core)
  core.beganReading()
  const release = () => grant.endRead()
  release[grantKey] = grant
  release.upgrade = upgrade
  release.tryUpgrade = tryUpgrade
  release.upgradeSync = upgradeSync
  if (isObserved) observeReleaser(core, release, 'shared', abandoned)
  if (abandoned) release[unseen] = () => grant.endUnseen(false)
  if (core.dress === null) return dressed(release, abandoned)
  return core.dress(release, abandoned, () => !grant.isOver)
}

function writeReleaser(core, abandoned) {
  const grant = new Grant(core)
  core.beganWriting()
  const release = () => grant.endWrite()
  release[grantKey] = grant
  release.downgrade = downgrade
  if (core.observer !== null) observeReleaser(core, release, 'exclusive', abandoned)
  if (abandoned) release[unseen] = () => grant.endUnseen(true)
  if (core.dress === null) return dressed(release, abandoned)
  return core.dress(release, abandoned, () => !grant.isOver)
}

class Reader extends Waiter {
  static value(core, _ask, abandoned) {
    return readReleaser(core, abandoned)
  }

  count(change) {
    this.core.share.waitingReads += change
    super.count(change)
  }
}

class Writer extends Waiter {
  static value(core, _ask, abandoned) {
    return writeReleaser(core, abandoned)
  }
}

class Upgrader extends Waiter {
  constructor(core, resolve, limits, _reject, grant) {
    super(core, resolve, limits)
    this.grant = grant
    grant.pending = this
  }

  count(change) {
    this.core.share.upgrading += change
    super.count(change)
  }

  end() {
    this.grant.pending = null
    super.end()
  }

  /** It is in: unless its releaser has let go meanwhile, when it was too late to give up. */
  admitted(abandoned) {
    if (!this.grant.isOver) {
      this.resolve(this.grant.becomeWriter(abandoned))
      return
    }
    this.grant.becomeWriter(abandoned).release()
    this.reject(this.grant.ended())
  }
}

module.exports = { observeReleaser, Reader, readReleaser, Upgrader, Writer, writeReleaser }
