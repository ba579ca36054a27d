'use strict'
// Grants of read-write locks that threads share, and the waiters for them.
const { unseen } = require('../core/releaser.js')
const { endedError } = require('../core/rw_errors.js')
const {
  grantKey,
  readReleaser: newReader,
  writeReleaser: newWriter,
} = require('../core/rw_releaser.js')
const { observed } = require('../core/platform.js')
const { Waiter } = require('./waiters.js')

/** Reports to the observer that a caller has entered, and gets `release`. */
function observeReleaser(core, release, mode, isAbandoned) {
  release[grantKey].hold = core.observeGrant(mode, 1, isAbandoned)
  observed.gave(core.observer, release)
}

function readReleaser(core, isAbandoned, isObserved = core.observer !== null) {
  core.beganReading()
  const release = newReader(core, isAbandoned)
  if (isObserved) observeReleaser(core, release, 'shared', isAbandoned)
  return completed(core, release, false, isAbandoned)
}

function writeReleaser(core, isAbandoned) {
  core.beganWriting()
  const release = newWriter(core, isAbandoned)
  if (core.observer !== null) observeReleaser(core, release, 'exclusive', isAbandoned)
  return completed(core, release, true, isAbandoned)
}

function completed(core, release, isWriter, isAbandoned) {
  const grant = release[grantKey]
  if (isAbandoned) release[unseen] = () => core.abandon(grant, isWriter)
  return core.addToken === null ? release : core.addToken(release, () => !grant.isOver, isWriter)
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

  /**
   * The waiter is admitted, unless its releaser was called meanwhile, when it was too late to give
   * up.
   */
  admitted(isAbandoned) {
    const { core, grant } = this
    const hasLetGo = grant.isOver
    const release = core.becomeWriter(grant, isAbandoned)
    if (!hasLetGo) {
      this.resolve(release)
      return
    }
    release()
    this.reject(endedError(core))
  }
}

module.exports = { observeReleaser, Reader, readReleaser, Upgrader, Writer, writeReleaser }
