'use strict'
// The key map that the threads of a process share. Its words lie in a table of C++ (src/locks/lock_table.h), and a lock is
// what this thread has of a key: it is idle when this thread has no part in it, whatever others do.
const { KeyMap } = require('../core/key_map.js')
const { fromText, nameOf, toText } = require('../core/keys.js')
const native = require('../load.js')
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
    // A releaser may know it still: it is not for another key. And it is not to go twice, though it may have been
    // in the middle of a release that tells of its rest once more.
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
 * The key map of all objects of this thread with that kind, name and settings, of locks that begin with `value`: it
 * stays.
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
