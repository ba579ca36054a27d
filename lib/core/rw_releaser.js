'use strict'
// Releasers of read-write locks of any scope: the releaser of a reader can upgrade, that of a writer can downgrade. The
// argument of a callback is not the releaser, with which the callback could upgrade or downgrade the grant that ends with
// the call.
const { checkMayBlock, readSyncWait, readWait, refuseNumber } = require('./options.js')
const { endedError } = require('./rw_errors.js')
const { inspecting, observed } = require('./platform.js')
const { receiverError } = require('./receiver.js')
const { defineLazy, localGrant, makeReleaser } = require('./releaser.js')

const grantKey = Symbol('grant')

/** The grant of one releaser, or of one callback. */
class RWGrant {
  isOver = false
  /** The waiter, while this reader waits to become the writer. */
  pending = null
  /** The observer's record of the grant. */
  hold = null

  constructor(lock) {
    this.lock = lock
  }

  /** Lets an RWGrant stand for its own releaser: a callback has a grant and no releaser. */
  get [grantKey]() {
    return this
  }

  /** Ends the grant: its holder is about to release, to upgrade or to downgrade. */
  end() {
    const { observer } = this.lock
    this.isOver = true
    if (observer !== null) observed.ended(observer, this.hold, 1)
  }

  /** How console.log() prints the grant, as a property of its releaser. */
  [inspecting]() {
    return this.isOver ? 'over' : 'held'
  }

  endRead() {
    if (!this.isOver) this.lock.endRead(this)
  }

  endWrite() {
    if (!this.isOver) this.lock.endWrite(this)
  }
}

// An upgrade goes ahead of every queued waiter: it has no priority, and the queue's limit does not concern it.
const upgradeOptions = new Set(['timeout', 'signal', 'ifAvailable'])
const upgradeSyncOptions = new Set(['timeout', 'signal'])

function readUpgrade(options) {
  refuseNumber(options, false)
  return readWait(options, upgradeOptions)
}

/** Returns the grant of `release`, the `this` of `method`. Throws if it is no releaser. */
function ownGrantOf(release, method) {
  const grant = release?.[grantKey]
  if (grant !== undefined) return grant
  throw receiverError({ class: 'Releaser', instance: 'a releaser' }, method, release)
}

/** As ownGrantOf(). Throws also if the grant has ended. */
function openGrantOf(release, method) {
  const grant = ownGrantOf(release, method)
  if (grant.isOver) throw endedError(grant.lock)
  return grant
}

// The methods of releasers, which all of them share. Each reads its options first, because a getter among them may
// release the lock.

function upgrade(options) {
  const limits = readUpgrade(options)
  const grant = openGrantOf(this, 'upgrade')
  if (limits.ifAvailable && !limits.signal?.aborted)
    return new Promise((resolve) => resolve(grant.lock.tryUpgrade(grant)))
  return grant.lock.upgrade(grant, limits)
}

function tryUpgrade() {
  const grant = openGrantOf(this, 'tryUpgrade')
  return grant.lock.tryUpgrade(grant)
}

function upgradeSync(options) {
  checkMayBlock(ownGrantOf(this, 'upgradeSync').lock.mayBlock, 'upgradeSync')
  refuseNumber(options, false)
  const limits = readSyncWait(options, upgradeSyncOptions)
  const grant = openGrantOf(this, 'upgradeSync')
  return grant.lock.upgradeSync(grant, limits)
}

function downgrade() {
  const grant = openGrantOf(this, 'downgrade')
  return grant.lock.downgrade(grant)
}

function readReleaser(lock, isAbandoned = false) {
  const grant = new RWGrant(lock)
  const Releaser = () => grant.endRead()
  const release = makeReleaser(Releaser, isAbandoned)
  release[grantKey] = grant
  release.upgrade = upgrade
  release.tryUpgrade = tryUpgrade
  release.upgradeSync = upgradeSync
  return release
}

function writeReleaser(lock, isAbandoned = false) {
  const grant = new RWGrant(lock)
  const Releaser = () => grant.endWrite()
  const release = makeReleaser(Releaser, isAbandoned)
  release[grantKey] = grant
  release.downgrade = downgrade
  return release
}

const told = ['fencingToken', 'fencingTokens', 'signal']

/** Returns the properties of the releaser `release` as a grant, without its methods. */
function grantOf(release) {
  const { abandoned } = release
  if (!abandoned && !('fencingToken' in release || 'signal' in release)) return localGrant
  const grant = { abandoned }
  for (const name of told) {
    if (name in release) defineLazy(grant, name, () => release[name])
  }
  return grant
}

module.exports = { grantKey, grantOf, RWGrant, readReleaser, readUpgrade, writeReleaser }
