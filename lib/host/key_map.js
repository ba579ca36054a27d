'use strict'
// A key map of scope host: its keys live in a segment. This thread pins the slot of a key only while it holds the key's
// lock or waits for it, because every pinned slot takes room in the segment. An unpinned slot may pass to another key.
const { toText } = require('../core/key_text.js')
const native = require('../addon/load.js')
const { CutKey } = require('./cut_key.js')
const { look } = require('./look.js')
const { SharedKeyMap } = require('../process/shared_key_map.js')
const { pinAgain, shareThere, unpin } = require('../process/shares.js')
const { untilIdle } = require('./timed_hold.js')

/** How many idle locks keep the index of their unpinned slot. They only take memory of this thread. */
const mostIdle = 1024

class HostKeyMap extends SharedKeyMap {
  scope = 'host'

  constructor(segment, make) {
    super(make, segment.name, segment, mostIdle)
  }

  /** Pins the slot of `lock` if need be. Returns false if the slot has passed to another key. */
  isThere(lock) {
    return lock.isPinned || pinAgain(lock)
  }

  onIdle() {
    return untilIdle(super.onIdle(), this.table.times)
  }

  get size() {
    return this.table.size
  }

  keys() {
    return this.table.busy(this.locks()).map(({ key }) => key)
  }

  /** Returns undefined for a CutKey: no lock of this thread has that key, so cancel() finds no waiter. */
  find(key) {
    return key instanceof CutKey ? undefined : super.find(key)
  }

  /** Answers for a free key without a lock, which takes room in the segment, if need be that of a report of a death. */
  look(key, use, otherwise) {
    const isFree =
      super.find(key) === undefined && native.host.has(this.table.number, toText(key)) === 0
    if (isFree) return otherwise
    try {
      return super.look(key, use)
    } catch (error) {
      // The key was free, and its slot has passed to another key by now.
      if (error.code === 'ERR_LOCK_CAPACITY') return otherwise
      throw error
    }
  }

  /** A key that only other threads or processes use has no lock here. */
  snapshot() {
    return this.table.busy(this.locks()).map(({ key, wordIndex }) => {
      const held = shareThere(wordIndex)?.look?.() ?? look(wordIndex)
      return { key, ...(this.watch?.seen(this.find(key), held) ?? held) }
    })
  }
}

/** Derives from `Base` a lock whose slot can be pinned. */
const pinned = (Base) =>
  class extends Base {
    isPinned = false

    isIdle() {
      return this.key === undefined ? super.isIdle() : !this.isPinned
    }

    /**
     * Unpins the slot of an idle lock. A lock that rests until the end of its minHold stays pinned, but has no caller.
     */
    reportIdle() {
      if (this.key === undefined) super.reportIdle()
      else if (!this.isPinned) return
      else if (super.isIdle() && unpin(this)) this.keyMap.drop(this)
      else if (!this.hasCallers()) this.keyMap.reportIdle()
    }
  }

module.exports = { HostKeyMap, pinned }
