'use strict'
// Memory that the processes of this machine share: a segment for each kind and name of lock
// (src/host/segment.h). This thread knows it by a number until it ends.
const { lockError } = require('../core/errors.js')
const { fromText, nameOf } = require('../core/keys.js')
const native = require('../load.js')
const { addWakeupListener, giveUpWhere } = require('../process/waiters.js')

/** Kind of src/host/layout.h. */
const kinds = {
  mutex: 1,
  'read-write lock': 2,
  semaphore: 3,
  'keyed mutex': 4,
  'keyed read-write lock': 5,
  'keyed semaphore': 6,
  'lock manager': 7,
  'recursive mutex': 8,
}

class HostSegment {
  constructor(number, kind, name) {
    this.number = number
    this.kind = kind
    this.name = name
    /** Why no lock of it is granted any more: its files were removed. */
    this.whyGone = undefined
    /** Whether the waiters and the holders of this thread have been told that. */
    this.isTold = false
    /** This thread as an owner: what a mutex's word is, as JavaScript sees it, while it holds it. */
    this.held = native.host.held(number)
  }

  /** The mutexes of it that this thread has. */
  mutexes() {
    return []
  }

  /** Whether its files were removed, as far as this process knows. */
  isGone() {
    if (this.whyGone === undefined) this.whyGone = native.host.whyGone(this.number) ?? undefined
    return this.whyGone !== undefined
  }

  /** `title` is the lock's. */
  goneError(title = titleOf(this)) {
    return lockError('ERR_LOCK_SEGMENT', `${title}: ${this.whyGone}`)
  }

  /** Tells all waiters for locks of it, and, since nothing else can tell a holder, the process. */
  tell() {
    this.isTold = true
    giveUpWhere(
      (core) => core.segment === this,
      (core) => this.goneError(core.title()),
    )
    for (const mutex of this.mutexes()) mutex.endAll(this.goneError(mutex.title()))
    if (native.host.holds(this.number) === 0) return
    const { message, code } = this.goneError()
    const detail = 'This process holds it: others may hold it, too, from now on.'
    process.emitWarning(message, { type: 'BoxofficeWarning', code, detail })
  }

  /** How many keys are held or waited for, by whatever process. */
  get size() {
    return native.host.busyCount(this.number)
  }

  /** Those keys, each with its place: which may be another one's by the time it is looked at. */
  busy() {
    const all = native.host.busy(this.number)
    const keys = []
    for (let i = 0; i < all.length; i += 2) keys.push({ key: keyOf(all[i]), place: all[i + 1] })
    return keys
  }
}

/** Of a long key, a segment keeps the beginning, and that there is more. */
function keyOf(text) {
  if (text.endsWith('…')) return text.slice(1)
  try {
    return fromText(text)
  } catch {
    return text // other processes may have written nonsense there: that is what there is to see
  }
}

const titleOf = ({ kind, name }) => `the ${kind} ${nameOf(name)} of this host`

const opened = new Map()
let removals = native.host.removals()

/** What this thread has opened, and is gone, though a wait that ended may have found that before. */
function lookForRemovals() {
  const now = native.host.removals()
  if (now === removals) return
  removals = now
  for (const segment of opened.values()) {
    if (!segment.isTold && segment.isGone()) segment.tell()
  }
}
addWakeupListener(lookForRemovals)

/** `kind` is one of those above. Where others have made it already, it must have begun as `start`. */
function openSegment(kind, start, { name, directory, capacity = 0 }) {
  const id = JSON.stringify([kind, name, directory, capacity, start])
  let segment = opened.get(id)
  if (segment === undefined) {
    try {
      const number = native.host.open(kinds[kind], name, directory, capacity, start)
      segment = new HostSegment(number, kind, name)
    } catch (error) {
      error.message = `${titleOf({ kind, name })}: ${error.message}`
      throw error
    }
    opened.set(id, segment)
  }
  if (segment.whyGone !== undefined) throw segment.goneError()
  return segment
}

module.exports = { openSegment }
