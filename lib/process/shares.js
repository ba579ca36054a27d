'use strict'
// Locks that other threads may know by memory or by name. Several objects of this thread may stand
// for one lock, and have one SharedState.
const native = require('../addon/load.js')
const { constructionError, otherStartError } = require('./construction_errors.js')
const { keepAlive } = require('./keep_alive.js')
const { mapWords, unmapWords } = require('./words.js')

class SharedState {
  constructor(wordIndex) {
    this.wordIndex = wordIndex
    /**
     * Whether this thread alone holds the lock and knows it. The word shows a hold before its
     * completion arrives.
     */
    this.isHeld = false
    /** Semaphores: the units that releasers of this thread will put back. */
    this.out = 0
    /** Semaphores: the most units in all that this thread has reason to expect, beyond those of the start. */
    this.most = 0
    /** The number of promises of this thread that wait for the lock. */
    this.waiting = 0
    /** The number of these that only want to know that it is free. */
    this.passing = 0
    /**
     * Of a read-write lock, the number of reads that this thread knows it has, and of its waiters
     * that want one.
     */
    this.reads = 0
    this.waitingReads = 0
    /** The number of readers of this thread that upgrade, one at most. */
    this.upgrading = 0
    /** A WeakRef to the observer that its objects share, if it has diagnostics. */
    this.observer = undefined
    /** The first of a list of locks: see listen(). */
    this.nextListener = null
    this.isAlive = false
    /** The number of releases of this thread that rest until the end of a minHold (lib/host/timed_rw_lock.js). */
    this.rests = 0
    /** Whether processes share the lock, and not only threads. */
    this.isHost = false
    /** The segment of scope host, which a lock keeps alive that is held without an object. */
    this.segment = undefined
    /**
     * The number of objects that have pinned a slot of a keyed segment, and whether the slot has
     * passed to another key.
     */
    this.pins = 0
    this.isGone = false
  }

  /** Counts a waiter of this thread for `lock` in or out, or notes a new holder. */
  wait(lock, change) {
    this.waiting += change
    // Only a wait that another thread or process can end keeps the event loop alive.
    const isAlive = this.waiting > 0 && lock.canBeGrantedElsewhere()
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

const shares = new Map() // by word index

function shareAt(wordIndex) {
  let shared = shares.get(wordIndex)
  if (shared === undefined) {
    shared = new SharedState(wordIndex)
    shares.set(wordIndex, shared)
  }
  return shared
}

/** `words` is memory that other threads may see, `start` the word of a new lock there. */
function indexInMemory(words, kind, start) {
  const wordIndex = native.shares.shareMemory(native.realm.adopt(words), kind, start)
  mapWords(wordIndex, words)
  return wordIndex
}

/** The word index of the lock of `key` in `table`. */
function indexOfKey(table, key, kind, start) {
  const wordIndex = native.shares.shareKey(table, key, kind, start)
  mapWords(wordIndex)
  return wordIndex
}

function shareMemory(words, kind, start) {
  return shareAt(indexInMemory(words, kind, start))
}

function shareKey(table, key, kind, start) {
  return shareAt(indexOfKey(table, key, kind, start))
}

/** The word index of the lock of `key` in a segment, or of its only lock. */
function indexOfSlot(segment, key) {
  const wordIndex = native.host.pin(segment.number, ...(key === undefined ? [] : [key]))
  mapWords(wordIndex)
  const known = shares.get(wordIndex)
  if (key !== undefined && known?.pins === 0) forget(known)
  return wordIndex
}

function shareSlot(segment, key) {
  const shared = shareAt(indexOfSlot(segment, key))
  shared.isHost = true
  shared.segment = segment
  return shared
}

/** Makes `shared`, an object like SharedState, this thread's state of `key`. */
function shareSlotWith(shared, segment, key) {
  const wordIndex = indexOfSlot(segment, key)
  shares.set(wordIndex, shared)
  shared.pins = 1
  return wordIndex
}

/** The state of the lock at `wordIndex` that the objects of this thread share, if there is one. */
const shareThere = (wordIndex) => shares.get(wordIndex)

/** The slot of `shared` may pass to another key: its objects are no longer valid. */
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

/** Pins the slot again. Returns false if it has passed to another key. */
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

/** Counts one object less for the lock, unless its slot has passed to another key. */
function unshare({ wordIndex, isGone }) {
  if (!isGone) letGoOf(wordIndex)
}

/**
 * Counts one object less for the lock at `wordIndex`. Returns whether none is left and this thread does not hold the
 * lock.
 */
function letGoOf(wordIndex) {
  if (native.shares.unshare(wordIndex) > 0) return false
  shares.delete(wordIndex)
  unmapWords(wordIndex)
  return true
}

const objects = new FinalizationRegistry(unshare)

/** Keeps the lock in C++ until the object `lock` is collected. */
function keepWith(lock) {
  objects.register(lock, lock.shared)
}

const tablesOfNames = new Map()

/** The number of the table of all locks of `kind` that have a name, by their names. */
function tableOfNames(kind) {
  if (!tablesOfNames.has(kind)) tablesOfNames.set(kind, native.lockTables.open(kind, 0, 1))
  return tablesOfNames.get(kind)
}

const tables = new Map()

/**
 * The number of a table, which this thread keeps open until closeTable() for every `user`. `argument` of a constructor
 * decides about `start`: see construction_errors.js.
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
  indexInMemory,
  indexOfSlot,
  indexOfKey,
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
