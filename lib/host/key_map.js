'use strict'
// A key map of scope host: its keys are those of a segment. A key's slot is pinned as long as this thread holds its lock
// or waits for it: one more would take the room of a key. Else the slot may be that of another key.
const native = require('../load.js')
const { SharedKeyMap } = require('../process/shared_key_map.js')
const { pinAgain, shareThere, unpin } = require('../process/shares.js')

/** Locks that know the slot of their key, and have not pinned it: all that they cost is memory of this thread. */
const mostIdle = 1024

class HostKeyMap extends SharedKeyMap {
  constructor(segment, make) {
    super(make, segment.name, segment, mostIdle)
  }

  /** Whether the slot of `core` is that of its key, and pinned. */
  isThere(core) {
    return core.isPinned || pinAgain(core)
  }

  get size() {
    return this.table.size
  }

  keys() {
    return this.table.busy().map(({ key }) => key)
  }

  /** A key that others hold, too, may have no core of ours. */
  see(key, held) {
    if (this.watch === undefined) return { key, ...held }
    return { key, ...this.watch.seen(this.find(key), held) }
  }

  snapshot() {
    const look = (place) => shareThere(place)?.look?.() ?? native.host.look(place)
    return this.table.busy().map(({ key, place }) => this.see(key, look(place)))
  }
}

/** Locks of class `Base`, whose slots can be pinned. */
const pinned = (Base) =>
  class extends Base {
    isPinned = false

    isIdle() {
      return this.key === undefined ? super.isIdle() : !this.isPinned
    }

    rest() {
      if (this.key === undefined) super.rest()
      else if (this.isPinned && super.isIdle() && unpin(this)) this.keyMap.drop(this)
    }
  }

module.exports = { HostKeyMap, pinned }
