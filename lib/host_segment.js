'use strict'
// Memory that the processes of this machine share: a segment for each kind and name of lock
// (src/host/segment.h). This thread knows it by a number until it ends.
const { fromText, nameOf } = require('./keys.js')
const native = require('./load.js')

/** Kind of src/host/layout.h. */
const kinds = {
  mutex: 1,
  'read-write lock': 2,
  semaphore: 3,
  'keyed mutex': 4,
  'keyed read-write lock': 5,
  'keyed semaphore': 6,
  'lock manager': 7,
}

class HostSegment {
  constructor(number, name) {
    this.number = number
    this.name = name
    /** This thread as an owner: what a mutex's word is, as JavaScript sees it, while it holds it. */
    this.held = native.hostHeld(number)
  }

  /** How many keys are held or waited for, by whatever process. */
  get size() {
    return native.hostBusyCount(this.number)
  }

  /** Those keys, each with its place: which may be another one's by the time it is looked at. */
  busy() {
    const all = native.hostBusy(this.number)
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

const opened = new Map()

/** `kind` is one of those above. Where others have made it already, it must have begun as `start`. */
function openSegment(kind, start, { name, directory, capacity = 0 }) {
  const id = JSON.stringify([kind, name, directory, capacity, start])
  let segment = opened.get(id)
  if (segment === undefined) {
    try {
      const number = native.hostOpen(kinds[kind], name, directory, capacity, start)
      segment = new HostSegment(number, name)
    } catch (error) {
      error.message = `the ${kind} ${nameOf(name)} of this host: ${error.message}`
      throw error
    }
    opened.set(id, segment)
  }
  return segment
}

module.exports = { openSegment }
