'use strict'
// The key map that the threads of a process share. Its words lie in a table in C++
// (src/locks/lock_table.h). A lock here is this thread's part of a key, and is idle when this
// thread neither holds the key nor waits for it.
const { KeyMap } = require('../core/key_map.js')
const { fromText, nameOf, toText } = require('../core/keys.js')
const native = require('../addon/load.js')
const { tableOf, unshare } = require('./shares.js')

class SharedKeyMap extends KeyMap {
  constructor(make, name, table, most) {
    super([], make, name, most)
    this.table = table
  }

  moveIn(core) {
    core.shareByKey(this.table, toText(core.key))
  }

  moveOut(core) {
    // A releaser may still refer to it, so another key must not reuse it. The mark keeps it from
    // being dropped twice, by a release that was under way.
    core.isListed = true
    unshare(core.share)
    return false
  }

  get size() {
    return native.lockTables.busyCount(this.table)
  }

  look(key, use) {
    return this.with(key, use)
  }

  keys() {
    return native.lockTables.busyKeys(this.table).map(fromText)
  }
}

const maps = new Map()

/**
 * The key map shared by all objects of this thread with that kind, name and settings, whose locks
 * begin with `value`. It is never dropped.
 */
function keyMapByName({ name: kind, shared }, value, { name, isStrict, mayBlock }, watch) {
  const Core = shared()
  const id = `keyed ${kind} ${toText(name)}`
  const table = tableOf(id, Core.idleWord(value), `the keyed ${kind} ${nameOf(name)}`)
  const own = `${value} ${isStrict} ${mayBlock} ${watch?.traits} ${id}`
  let map = maps.get(own)
  if (map === undefined) {
    const make = () => Object.assign(new Core(value), { isStrict, mayBlock })
    map = new SharedKeyMap(watch === undefined ? make : () => watch.watches(make()), name, table)
    maps.set(own, map)
  }
  return map
}

module.exports = { keyMapByName, SharedKeyMap }
