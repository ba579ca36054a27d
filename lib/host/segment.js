'use strict'
// Memory that the processes of this machine share: one segment for each kind and name of lock (src/host/segment.h). A
// number identifies it in this thread until the thread ends, because the process keeps the memory mapped. The object is
// collected when no lock of this thread uses it.
const { lockError } = require('../core/errors.js')
const { fromText, toText } = require('../core/key_text.js')
const { nameOf } = require('../core/keys.js')
const { warn } = require('../core/warn.js')
const native = require('../addon/load.js')
const { cutKeyOf } = require('./cut_key.js')
const { unmapRegion } = require('../process/words.js')
const { constructionError } = require('../process/construction_errors.js')
const { addWakeupListener, giveUpWhere } = require('../process/waiters.js')

/** By the name of a kind of lock, keyed or not. */
const kinds = native.layout.hostKinds

class HostSegment {
  constructor(number, kind, name) {
    this.number = number
    this.kind = kind
    this.name = name
    /** Why the segment grants no lock any more: its files were removed, or cannot be opened any more. */
    this.whyGone = undefined
    /** Whether waiters and holders of this thread know of the removal. */
    this.isTold = false
    /** Once `isTimed`: maxHold and minHold of its locks, or undefined. Unused for mutexes. */
    this.times = undefined
    this.isTimed = false
    /** The word of a mutex, as JavaScript sees it, while this thread holds it. */
    this.held = native.host.held(number)
  }

  /** The mutexes of this segment that this thread uses. */
  mutexes() {
    return []
  }

  /** Whether its files were removed, as far as this process knows. */
  isGone() {
    if (this.whyGone === undefined) this.whyGone = native.host.whyGone(this.number) ?? undefined
    return this.whyGone !== undefined
  }

  /** `title` names the lock. */
  goneError(title = titleOf(this)) {
    return lockError('ERR_LOCK_SEGMENT', `${title}: ${this.whyGone}`)
  }

  /**
   * Rejects all waiters for its locks. Also emits a process warning, the only way to tell a holder.
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

  /** The number of keys that any process holds or awaits. */
  get size() {
    return native.host.busyCount(this.number)
  }

  /**
   * The busy keys, each with its word index. By the time the caller looks, the word index may be another
   * key's. `locks` are the locks of this thread, which know their keys as a whole.
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

  /** The key at `wordIndex`, of which the segment has only the beginning. */
  #wholeKey(text, wordIndex, known) {
    const key = known.get(wordIndex)
    // The word index of an idle lock may have passed to another key.
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

/** By kind, name and options. */
const numbers = new Map()
/** WeakRefs by number. A lock that this thread has, or holds without an object, keeps its segment alive. */
const opened = new Map()
const collected = new FinalizationRegistry((number) => {
  // It may have been opened again.
  if (opened.get(number)?.deref() !== undefined) return
  opened.delete(number)
  for (const region of native.host.forgetWords(number)) unmapRegion(region)
})
let removals = native.host.removals()

/**
 * Looks for removed segments among those this thread has open. A wait that ended may have found the
 * removal before.
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
 * `kind` is one of the kinds above. If the segment exists already, it must have been created with
 * `start`, about which `argument` of the constructor decides (construction_errors.js).
 */
function openSegment(kind, start, { name, directory, capacity = 0 }, argument = undefined) {
  const id = JSON.stringify([kind, name, directory, capacity, start])
  let number = numbers.get(id)
  if (number === undefined) {
    try {
      number = native.host.open(kinds[kind], name, directory, capacity, start)
    } catch (error) {
      throw constructionError(error, titleOf({ kind, name }), start, argument)
    }
    numbers.set(id, number)
  }
  const segment = opened.get(number)?.deref() ?? segmentOf(number, kind, name)
  if (segment.whyGone !== undefined) throw segment.goneError()
  return segment
}

function segmentOf(number, kind, name) {
  const segment = new HostSegment(number, kind, name)
  // Its files may have been removed while this thread had no lock of it.
  segment.isGone()
  opened.set(number, new WeakRef(segment))
  collected.register(segment, number)
  return segment
}

module.exports = { openSegment }
