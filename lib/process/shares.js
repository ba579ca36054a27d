'use strict'
// Locks that other threads may know by memory or by name. Several objects of this thread may stand
// for one lock; a share is their common state.
const { lockError } = require('../core/errors.js')
const native = require('../addon/load.js')
const { keepAlive } = require('./keep_alive.js')
const { mapWords, unmapWords } = require('./words.js')

class Share {
  constructor(place) {
    this.place = place
    /**
     * Whether this thread alone holds the lock and knows it. The word shows a hold before its
     * completion arrives.
     */
    this.isHeld = false
    /** Semaphores: the units that releasers of this thread will put back. */
    this.out = 0
    /** Semaphores: the most units in all that this thread has reason to expect, beyond those of the start. */
    this.most = 0
    /** How many promises of this thread wait for the lock. */
    this.waiting = 0
    /** How many of these only want to know that it is free. */
    this.passing = 0
    /**
     * Read-write locks: how many reads this thread knows it has, and how many of its waiters want
     * one.
     */
    this.reads = 0
    this.waitingReads = 0
    /** Read-write locks: how many of its readers upgrade, one at most. */
    this.upgrading = 0
    /** With diagnostics: a WeakRef to the observer shared by its objects. */
    this.observer = undefined
    /** The first of a list of locks: see listen(). */
    this.nextListener = null
    this.isAlive = false
    /** With a minHold: how many releases of this thread rest until its end (lib/host/timed_rw_lock.js). */
    this.rests = 0
    /** Whether processes share the lock, and not only threads. */
    this.isHost = false
    /** At scope host, the segment: a lock that is held without an object keeps it alive, too. */
    this.segment = undefined
    /**
     * In a keyed segment: how many objects have pinned the slot, and whether the slot has passed to
     * another key.
     */
    this.pins = 0
    this.isGone = false
  }

  /** Counts a waiter of this thread for `lock` in or out, or notes a new holder. */
  wait(lock, change) {
    this.waiting += change
    // Only a wait that another thread or process can end keeps the event loop alive.
    const isAlive = this.waiting > 0 && lock.isOutOfOurHands()
    if (isAlive === this.isAlive) return
    this.isAlive = isAlive
    keepAlive.count(isAlive ? +1 : -1, this.isHost)
  }

  /** From now on calls reportIdle() of `lock`, an object of this thread, when any of them may have become idle. */
  listen(lock) {
    lock.nextListener = this.nextListener
    this.nextListener = lock
  }

  unlisten(lock) {
    let before = this
    while (before.nextListener !== lock) {
      if (before.nextListener === null) return
      before = before.nextListener
    }
    before.nextListener = lock.nextListener
  }

  tellListeners() {
    let lock = this.nextListener
    while (lock !== null) {
      const next = lock.nextListener // reportIdle() may take `lock` out of the list
      lock.reportIdle()
      lock = next
    }
  }
}

const shares = new Map() // by place

function shareAt(place) {
  let share = shares.get(place)
  if (share === undefined) {
    share = new Share(place)
    shares.set(place, share)
  }
  return share
}

/** `words` is memory that other threads may see, `start` the word of a new lock there. */
function placeInMemory(words, kind, start) {
  const place = native.shares.shareMemory(native.realm.adopt(words), kind, start)
  mapWords(place, words)
  return place
}

/** The place of the lock of `key` in `table`. */
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

/** The place of the lock of `key` in a segment, or of its only lock. */
function placeInSlot(segment, key) {
  const place = native.host.pin(segment.number, ...(key === undefined ? [] : [key]))
  mapWords(place)
  const known = shares.get(place)
  if (key !== undefined && known?.pins === 0) forget(known)
  return place
}

function shareSlot(segment, key) {
  const share = shareAt(placeInSlot(segment, key))
  share.isHost = true
  share.segment = segment
  return share
}

/** Makes `share`, an object like Share, this thread's share of `key`. */
function shareSlotWith(share, segment, key) {
  const place = placeInSlot(segment, key)
  shares.set(place, share)
  share.pins = 1
  return place
}

/** The share of the lock at `place`, if this thread has one. */
const shareThere = (place) => shares.get(place)

/** The slot of `share` may pass to another key: its objects are no longer valid. */
function forget(share) {
  share.isGone = true
  shares.delete(share.place)
}

/** Unpins the slot of `lock`, which another key may then take. Returns whether it did. */
function unpin(lock) {
  const { share } = lock
  if (share.pins === 1 && native.host.unpin(share.place) === 0) return false
  share.pins--
  lock.isPinned = false
  return true
}

/** Pins the slot again. Returns false if it has passed to another key. */
function pinAgain(lock) {
  const { share } = lock
  if (share.isGone) return false
  if (share.pins === 0 && native.host.pinAgain(share.place) === 0) {
    forget(share)
    return false
  }
  share.pins++
  lock.isPinned = true
  return true
}

/** Counts one object less for the lock, unless its slot has passed to another key. */
function unshare({ place, isGone }) {
  if (!isGone) letGoOf(place)
}

/** Counts one object less for the lock at `place`. Returns whether none is left and this thread does not hold the lock. */
function letGoOf(place) {
  if (native.shares.unshare(place) > 0) return false
  shares.delete(place)
  unmapWords(place)
  return true
}

const objects = new FinalizationRegistry(unshare)

/** Keeps the lock in C++ until the object `lock` is collected. */
function keepWith(lock) {
  objects.register(lock, lock.share)
}

const tablesOfNames = new Map()

/** The number of the table of all locks of `kind` that have a name, by their names. */
function tableOfNames(kind) {
  if (!tablesOfNames.has(kind)) tablesOfNames.set(kind, native.lockTables.open(kind, 0, 1))
  return tablesOfNames.get(kind)
}

const tables = new Map()

/** The number of a table, which this thread keeps open until closeTable() for every `user`. */
function tableOf(name, start, title, user) {
  let opened = tables.get(name)
  if (opened === undefined) {
    try {
      opened = { table: native.lockTables.open(name, start, 0), start, users: new Set() }
    } catch (error) {
      error.message = `${title}: ${error.message}`
      throw error
    }
    tables.set(name, opened)
  }
  if (opened.start !== start) {
    const message = `${title}: a lock of this name exists with another value: construct it alike everywhere`
    throw lockError('ERR_LOCK_MISMATCH', message)
  }
  opened.users.add(user)
  return opened.table
}

/** `user` has no lock of the table any more. */
function closeTable(name, user) {
  const { table, users } = tables.get(name)
  users.delete(user)
  if (users.size > 0) return
  tables.delete(name)
  native.lockTables.close(table)
}

module.exports = {
  closeTable,
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
  tableOfNames,
  unpin,
  unshare,
}
