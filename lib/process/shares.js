'use strict'
// Locks that other threads find by memory or by name. All objects of this thread for one lock share its SharedState.
const native = require('../addon/load.js')
const { constructionError, otherStartError } = require('./construction_errors.js')
const { keepAlive } = require('./keep_alive.js')
const { mapWords, regionOf, unmapRegion } = require('./words.js')

class SharedState {
  constructor(wordIndex) {
    this.wordIndex = wordIndex
    /**
     * Whether this thread holds the lock exclusively and has read the completion of that grant. (The word shows the
     * hold earlier.)
     */
    this.isHeld = false
    /** For semaphores: how many units the releasers of this thread will put back. */
    this.out = 0
    /** For semaphores: the most units, free and taken, that this thread has seen. */
    this.most = 0
    /** The number of promises of this thread that wait for the lock. */
    this.waiting = 0
    /** How many of these promises are passers (semaphore.js). */
    this.passing = 0
    /**
     * For read-write locks: the number of readers of this thread that have read their completion, and of its waiters
     * that want to read.
     */
    this.reads = 0
    this.waitingReads = 0
    /** How many readers of this thread are upgrading: 0 or 1. */
    this.upgrading = 0
    /** A WeakRef to the observer, which all objects of the lock share, if it has diagnostics. */
    this.observer = undefined
    /** The head of a list of objects: see listen(). */
    this.nextListener = null
    this.isAlive = false
    /** How many released holds of this thread rest until the end of a minHold (lib/host/timed_rw_lock.js). */
    this.rests = 0
    /** Whether processes share the lock, not only threads. */
    this.isHost = false
    /** At scope host: the segment, so that a lock that is held without an object keeps it alive. */
    this.segment = undefined
    /**
     * For a slot of a keyed segment: how many objects have pinned it, and whether it has passed to another key.
     */
    this.pins = 0
    this.isGone = false
  }

  /** Adds `change` to the number of waiters, and decides again whether they keep the event loop alive. */
  wait(lock, change) {
    this.waiting += change
    // Only a wait that another thread or process can end keeps the event loop alive.
    const isAlive = this.waiting > 0 && lock.canBeGrantedElsewhere()
    if (isAlive === this.isAlive) return
    this.isAlive = isAlive
    keepAlive.count(isAlive ? +1 : -1, this.isHost)
  }

  /** Calls reportIdle() of `lock`, an object of this thread, whenever the lock may have become idle. */
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
      const next = lock.nextListener // reportIdle() may remove `lock` from the list
      lock.reportIdle()
      lock = next
    }
  }
}

const shares = new Map() // by word index

/** Returns the SharedState of the lock at `wordIndex`. */
function shareAt(wordIndex) {
  let shared = shares.get(wordIndex)
  if (shared === undefined) {
    shared = new SharedState(wordIndex)
    shares.set(wordIndex, shared)
  }
  return shared
}

/** Returns the word index of the lock in `words`, memory that threads share. A new lock there begins with `start`. */
function indexInMemory(words, kind, start) {
  const wordIndex = native.shares.shareMemory(native.realm.adopt(words), kind, start)
  mapWords(wordIndex, words)
  return wordIndex
}

function indexOfKey(table, key, kind, start) {
  const wordIndex = native.shares.shareKey(table, key, kind, start)
  mapWords(wordIndex)
  return wordIndex
}

/** Returns the word index of the lock of `key` in a segment, or without `key` that of its only lock. */
function indexOfSlot(segment, key) {
  const wordIndex = native.host.pin(segment.number, ...(key === undefined ? [] : [key]))
  mapWords(wordIndex)
  const known = shares.get(wordIndex)
  if (key !== undefined && known?.pins === 0) forget(known)
  return wordIndex
}

/** Makes `shared`, a lender with fields of SharedState, this thread's state of `key`. */
function shareSlotWith(shared, segment, key) {
  const wordIndex = indexOfSlot(segment, key)
  shares.set(wordIndex, shared)
  shared.pins = 1
  return wordIndex
}

/** As shareAt(), but undefined if this thread has none. */
const shareThere = (wordIndex) => shares.get(wordIndex)

/** Invalidates `shared` and its objects, because the slot may pass to another key. */
function forget(shared) {
  shared.isGone = true
  shares.delete(shared.wordIndex)
}

/** Unpins the slot of `lock`, which another key may then take. Returns whether it did. */
function unpin(lock) {
  const { shared } = lock
  if (shared.pins === 1 && native.host.unpin(shared.wordIndex) === 0) return false
  shared.pins--
  lock.isPinned = false
  return true
}

/** Pins the slot of `lock` again. Returns false if it has passed to another key. */
function pinAgain(lock) {
  const { shared } = lock
  if (shared.isGone) return false
  if (shared.pins === 0 && native.host.pinAgain(shared.wordIndex) === 0) {
    forget(shared)
    return false
  }
  shared.pins++
  lock.isPinned = true
  return true
}

/** Lets go of a lock for one object, unless its slot has passed to another key. */
function unshare({ wordIndex, isGone }) {
  if (!isGone) letGoOf(wordIndex)
}

/**
 * Subtracts one from C++'s count of this thread's objects for the lock at `wordIndex`. Returns true if none is left and
 * this thread does not hold the lock.
 */
function letGoOf(wordIndex) {
  if (native.shares.unshare(wordIndex) > 0) return false
  shares.delete(wordIndex)
  unmapRegion(regionOf(wordIndex))
  return true
}

const objects = new FinalizationRegistry(unshare)

/** Keeps the lock in C++ until the object `lock` is collected. */
function keepWith(lock) {
  objects.register(lock, lock.shared)
}

const tablesOfNames = new Map()

/** Returns the number of the table of all named locks of `kind`. Its keys are the names. */
function tableOfNames(kind) {
  if (!tablesOfNames.has(kind)) tablesOfNames.set(kind, native.lockTables.open(kind, 0, 1))
  return tablesOfNames.get(kind)
}

const tables = new Map()

/**
 * Returns the number of the table of that name. This thread keeps the table open until closeTable() for each `user`.
 * `argument` describes the constructor's argument that decides `start`: see construction_errors.js.
 */
function tableOf(name, start, user, title, argument) {
  let opened = tables.get(name)
  if (opened === undefined) {
    try {
      opened = { table: native.lockTables.open(name, start, 0), start, users: new Set() }
    } catch (error) {
      throw constructionError(error, title, start, argument)
    }
    tables.set(name, opened)
  }
  if (opened.start !== start) throw otherStartError(title, opened.start, start, argument)
  opened.users.add(user)
  return opened.table
}

/** Closes the table for `user`, which has no lock in it any more. */
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
  indexInMemory,
  indexOfSlot,
  indexOfKey,
  shareAt,
  shareSlotWith,
  shareThere,
  tableOf,
  tableOfNames,
  unpin,
  unshare,
}
