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

/** The key map of all objects of this thread with that name, and the same `traits`: it stays. */
function keyMapByName(name, kind, traits, make) {
  const table = tableOf(
    `keyed ${kind} ${toText(name)}`,
    make().idle,
    `the keyed ${kind} ${nameOf(name)}`,
  )
  const id = `${kind} ${traits} ${name}`
  let map = maps.get(id)
  if (map === undefined) {
    map = new SharedKeyMap(make, name, table)
    maps.set(id, map)
  }
  return map
}

module.exports = { keyMapByName, SharedKeyMap }
