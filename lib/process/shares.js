'use strict'
// Locks that other threads may know: by memory, or by name. Several objects of this thread may stand for
// one; what they have in common is its share.
const { lockError } = require('../core/errors.js')
const native = require('../load.js')
const { mapWords, unmapWords } = require('./words.js')

class Share {
  constructor(place) {
    this.place = place
    /** Whether this thread holds it alone and knows it. The word says so before its completion has come. */
    this.isHeld = false
    /** How many promises of this thread wait for it. */
    this.waiting = 0
    /** A read-write lock: how many reads this thread has and knows of, and how many of its waiters want one. */
    this.reads = 0
    this.waitingReads = 0
    /** A read-write lock: how many of its readers, which are one at most, upgrade. */
    this.upgrading = 0
    /** Where it is watched: a WeakRef to the observer that its cores have in common. */
    this.observer = undefined
    this.isAlive = false
    /** Whether processes share it, and not just threads. */
    this.isAfar = false
    /** A slot of a keyed segment: how many cores have it pinned, and whether it is another key's by now. */
    this.pins = 0
    this.isGone = false
  }

  /** One waiter more or less of this thread waits for `core`, or its holder has changed. */
  wait(core, change) {
    this.waiting += change
    // Only what another thread or process could end keeps the event loop alive.
    const isAlive = this.waiting > 0 && core.isOutOfOurHands()
    if (isAlive === this.isAlive) return
    this.isAlive = isAlive
    keepAlive(isAlive ? +1 : -1, this.isAfar)
  }
}

const shares = new Map() // by place

/** How many shares are waited for that another thread could release. */
let alive = 0
/** How many of them another process could release. */
let aliveAfar = 0
/** What C++ keeps for them: see binding/keep_alive.h. */
const keeps = { nothing: 0, instance: 1, thread: 2 }
let kept = keeps.nothing

function keepAlive(change, isAfar = false) {
  alive += change
  if (isAfar) aliveAfar += change
  if (isAfar || (change > 0 ? alive === 1 : alive === 0)) updateKeepAlive()
}

/** Other processes may always come. Where there is no other thread, and none that ended has left us completions, there is nothing to stay for. */
function updateKeepAlive() {
  const keep = toKeep()
  if (keep === kept) return
  kept = keep
  native.eventLoop.keepAlive(keep)
}

function toKeep() {
  if (alive === 0) return keeps.nothing
  return aliveAfar > 0 || native.eventLoop.mayBeWoken() === 1 ? keeps.thread : keeps.instance
}

function shareAt(place) {
  let share = shares.get(place)
  if (share === undefined) {
    share = new Share(place)
    shares.set(place, share)
  }
  return share
}

/** `words` is memory that other threads may see, `start` the word of a lock that is new there. */
function placeInMemory(words, kind, start) {
  const place = native.shares.shareMemory(native.realm.adopt(words), kind, start)
  mapWords(place, words)
  return place
}

/** The lock of that key in `table`. */
function placeOfKey(table, key, kind, start) {
  const place = native.shares.shareKey(table, key, kind, start)
  mapWords(place)
  return place
}

function shareMemory(words, kind, start) {
  return shareAt(placeInMemory(words, kind, start))
}

function shareKey(table, key, kind, start) {
  return shareAt(placeOfKey(table, key, kind, start))
}

/** The lock of that key in a segment, or its only one. */
function placeInSlot(segment, key) {
  const place = native.host.pin(segment.number, ...(key === undefined ? [] : [key]))
  mapWords(place)
  const known = shares.get(place)
  if (key !== undefined && known?.pins === 0) forget(known)
  return place
}

function shareSlot(segment, key) {
  const share = shareAt(placeInSlot(segment, key))
  share.isAfar = true
  return share
}

/** `share`, which is like a Share, is what this thread has of that key. */
function shareSlotWith(share, segment, key) {
  const place = placeInSlot(segment, key)
  shares.set(place, share)
  share.pins = 1
  return place
}

/** What this thread has of the lock at `place`, or had. */
const shareThere = (place) => shares.get(place)

/** The slot of `share` may be that of another key: no core of it is good any more. */
function forget(share) {
  share.isGone = true
  shares.delete(share.place)
}

/** Whether `core` has let go of its slot, which other keys may have from then on. */
function unpin(core) {
  const { share } = core
  if (share.pins === 1 && native.host.unpin(share.place) === 0) return false
  share.pins--
  core.isPinned = false
  return true
}

/** Whether the slot is that of the key of `core` still, and pinned for it. */
function pinAgain(core) {
  const { share } = core
  if (share.isGone) return false
  if (share.pins === 0 && native.host.pinAgain(share.place) === 0) {
    forget(share)
    return false
  }
  share.pins++
  core.isPinned = true
  return true
}

/** One object less stands for it. */
function unshare({ place, isGone }) {
  if (!isGone) letGoOf(place)
}

/** Whether no object stands for the lock there any more, and none is held. */
function letGoOf(place) {
  if (native.shares.unshare(place) > 0) return false
  shares.delete(place)
  unmapWords(place)
  return true
}

const objects = new FinalizationRegistry(unshare)

/** Until `core` is collected. */
function keepWith(core) {
  objects.register(core, core.share)
}

const tables = new Map()

/** The number of a table, which this thread keeps open from then on. */
function tableOf(name, start = 0, title = '') {
  let opened = tables.get(name)
  if (opened === undefined) {
    try {
      opened = { table: native.lockTables.open(name, start), start }
    } catch (error) {
      error.message = `${title}: ${error.message}`
      throw error
    }
    tables.set(name, opened)
  }
  if (opened.start !== start) {
    const message = `${title}: it is there already, and began with another value`
    throw lockError('ERR_LOCK_MISMATCH', message)
  }
  return opened.table
}

module.exports = {
  keepAlive,
  keepWith,
  letGoOf,
  pinAgain,
  placeInMemory,
  placeInSlot,
  placeOfKey,
  shareKey,
  shareMemory,
  shareSlot,
  shareSlotWith,
  shareThere,
  tableOf,
  unpin,
  unshare,
  updateKeepAlive,
}
