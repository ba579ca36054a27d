'use strict'
// Memory that the processes of this machine share: one segment for each kind and name of lock (src/host/segment.h). The
// process keeps a segment mapped until it ends, so the segment's number in this thread never changes. Its HostSegment
// is collected when no lock of this thread uses it.
const { lockError } = require('../core/errors.js')
const { checkAlike } = require('../core/hold_times.js')
const { fromText, toText } = require('../core/key_text.js')
const { nameOf } = require('../core/keys.js')
const { warn, warnHere } = require('../core/warn.js')
const native = require('../addon/load.js')
const { cutKeyOf } = require('./cut_key.js')
const { unmapRegion } = require('../process/words.js')
const { constructionError } = require('../process/construction_errors.js')
const { addWakeupListener, giveUpWhere } = require('../process/waiters.js')

/** The numbers of the kinds of locks, keyed or not, by name. */
const kinds = native.layout.hostKinds

class HostSegment {
  constructor(number, kind, name) {
    this.number = number
    this.kind = kind
    this.name = name
    /**
     * Why the segment no longer grants locks: its files were removed, or can no longer be opened. Undefined until then.
     */
    this.whyGone = undefined
    /** Whether tell() has rejected the waiters of this thread and warned its holders. */
    this.isTold = false
    /** The hold times of its locks, undefined if they have none. Null until openSegment() has read them. */
    this.times = null
    /** The value of the word of a mutex while this thread holds it, as JavaScript reads it. */
    this.held = native.host.held(number)
  }

  /** The mutexes of this segment that this thread uses. */
  mutexes() {
    return []
  }

  /** Whether this process knows that the segment's files were removed. */
  isGone() {
    if (this.whyGone === undefined) this.whyGone = native.host.whyGone(this.number) ?? undefined
    return this.whyGone !== undefined
  }

  /** Makes the error for a lock that the message calls `title`. */
  goneError(title = titleOf(this)) {
    return lockError('ERR_LOCK_SEGMENT', `${title}: ${this.whyGone}`)
  }

  /**
   * Rejects all waiters for the segment's locks. Also emits a process warning, the only way to tell a holder.
   */
  tell() {
    this.isTold = true
    giveUpWhere(
      (lock) => lock.segment === this,
      (lock) => this.goneError(lock.title()),
    )
    for (const mutex of this.mutexes()) mutex.endAll(this.goneError(mutex.title()))
    if (native.host.holds(this.number) === 0) return
    const { message, code } = this.goneError()
    const isAlone = native.host.isLost(this.number) === 1
    const detail = isAlone
      ? 'This process holds it, and can only release it.'
      : 'This process holds it: others may hold it, too, from now on.'
    warn(code, message, { detail })
  }

  /** The number of keys that any process holds or waits for. */
  get size() {
    return native.host.busyCount(this.number)
  }

  /**
   * Returns the busy keys, each with its word index, which may pass to another key at any time. `locks` are the locks
   * of this thread: they know their whole keys, and the segment only the beginning of long ones.
   */
  busy(locks) {
    const all = native.host.busy(this.number)
    const keys = []
    let known
    for (let i = 0; i < all.length; i += 3) {
      const [text, isCut, wordIndex] = [all[i], all[i + 1], all[i + 2]]
      if (isCut) known ??= keysByPlace(locks)
      keys.push({ key: isCut ? this.#wholeKey(text, wordIndex, known) : keyOf(text), wordIndex })
    }
    return keys
  }

  /** Returns the key at `wordIndex`, of which the segment has only the beginning `text`. */
  #wholeKey(text, wordIndex, known) {
    const key = known.get(wordIndex)
    // The word of an idle lock may have passed to another key.
    const isKnown =
      key !== undefined && native.host.carries(this.number, wordIndex, toText(key)) === 1
    return isKnown ? key : cutKeyOf(text, wordIndex)
  }
}

function keysByPlace(locks) {
  const keys = new Map()
  for (const { key, shared } of locks) if (!shared.isGone) keys.set(shared.wordIndex, key)
  return keys
}

function keyOf(text) {
  try {
    return fromText(text)
  } catch {
    return text // Another process may have corrupted the key: show the stored text.
  }
}

const titleOf = ({ kind, name }) => `the ${kind} ${nameOf(name)} of this host`

/** The numbers of segments, by kind, name and options. */
const numbers = new Map()
/** More names than this are probably made of the names of users, or the like. */
const mostNames = 1000
const manyNames =
  `more than ${mostNames} locks of scope 'host' have been constructed in this thread, ` +
  'and the process keeps a file of each mapped until it ends: ' +
  'in place of a name for each user, or the like, use a keyed lock, whose keys share a file'
/**
 * WeakRefs to segments, by number. Every lock of this thread keeps its segment alive, also one held without an object.
 */
const opened = new Map()
const collected = new FinalizationRegistry((number) => {
  // The segment may have been opened again.
  if (opened.get(number)?.deref() !== undefined) return
  opened.delete(number)
  for (const region of native.host.forgetWords(number)) unmapRegion(region)
})
let removals = native.host.removals()

/**
 * Looks for removed segments among the open segments of this thread, and tells their waiters and holders.
 */
function lookForRemovals() {
  const now = native.host.removals()
  if (now === removals) return
  removals = now
  for (const ref of opened.values()) {
    const segment = ref.deref()
    if (segment !== undefined && !segment.isTold && segment.isGone()) segment.tell()
  }
}
addWakeupListener(lookForRemovals)

/**
 * Opens the segment of `kind`, a name in `kinds`, for locks with these hold `times`. Throws if the segment exists and
 * was created with another `start`, or if this thread has locks in it with other times. `argument` is the constructor's
 * argument that decides `start`, for that error (construction_errors.js).
 */
function openSegment(kind, start, { name, directory, capacity = 0 }, times, argument) {
  const id = JSON.stringify([kind, name, directory, capacity, start])
  let number = numbers.get(id)
  if (number === undefined) {
    try {
      number = native.host.open(kinds[kind], name, directory, capacity, start)
    } catch (error) {
      throw constructionError(error, titleOf({ kind, name }), start, argument)
    }
    numbers.set(id, number)
    if (numbers.size === mostNames + 1) {
      warnHere('BOXOFFICE_MANY_NAMES', manyNames, 'The last one was constructed')
    }
  }
  const segment = opened.get(number)?.deref() ?? segmentOf(number, kind, name)
  if (segment.whyGone !== undefined) throw segment.goneError()
  if (segment.times === null) segment.times = times
  else checkAlike(segment.times, times, segment)
  return segment
}

function segmentOf(number, kind, name) {
  const segment = new HostSegment(number, kind, name)
  // The files may have been removed while this thread had no lock in the segment.
  segment.isGone()
  opened.set(number, new WeakRef(segment))
  collected.register(segment, number)
  return segment
}

module.exports = { openSegment }
