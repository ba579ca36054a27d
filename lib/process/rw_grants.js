'use strict'
// Grants of read-write locks that threads share, and the waiters for them.
const { undelivered } = require('../core/releaser.js')
const { endedError } = require('../core/rw_errors.js')
const { grantKey, readReleaser, writeReleaser } = require('../core/rw_releaser.js')
const { observed } = require('../core/platform.js')
const { setTraits } = require('../core/waiter.js')
const { Waiter } = require('./waiters.js')

/** Reports to the observer that a caller holds the lock by `release`. */
function observeReleaser(lock, release, mode, isAbandoned) {
  release[grantKey].hold = lock.observeGrant(mode, 1, isAbandoned)
  observed.gave(lock.observer, release)
}

/** Makes the releaser of a new hold. */
function releaserOf(lock, isWriter, isAbandoned, isObserved = lock.observer !== null) {
  lock.beganHold(isWriter)
  const release = (isWriter ? writeReleaser : readReleaser)(lock, isAbandoned)
  if (isObserved) observeReleaser(lock, release, isWriter ? 'exclusive' : 'shared', isAbandoned)
  const grant = release[grantKey]
  if (isAbandoned) release[undelivered] = () => lock.abandon(grant, isWriter)
  return lock.addToken === null ? release : lock.addToken(release, () => !grant.isOver, isWriter)
}

class Reader extends Waiter {
  static value(lock, _ask, abandoned) {
    return releaserOf(lock, false, abandoned)
  }

  count(change) {
    this.lock.shared.waitingReads += change
    super.count(change)
  }
}
setTraits(Reader, { mode: 'shared' })

class Writer extends Waiter {
  static value(lock, _ask, abandoned) {
    return releaserOf(lock, true, abandoned)
  }
}

class Upgrader extends Waiter {
  constructor(resolve, limits, grant, lock) {
    super(resolve, limits, grant, lock)
    this.grant = grant
    grant.pending = this
  }

  count(change) {
    this.lock.shared.upgrading += change
    super.count(change)
  }

  end() {
    this.grant.pending = null
    super.end()
  }

  /**
   * Makes the waiter the writer. If its reader's releaser was called when it was too late to leave the queue, releases
   * and rejects.
   */
  admitted(isAbandoned) {
    const { lock, grant } = this
    const hasLetGo = grant.isOver
    const release = lock.becomeWriter(grant, isAbandoned)
    if (!hasLetGo) {
      this.resolve(release)
      return
    }
    release()
    this.reject(endedError(lock))
  }
}

module.exports = { observeReleaser, Reader, releaserOf, Upgrader, Writer }
