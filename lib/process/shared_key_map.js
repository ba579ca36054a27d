'use strict'
// The key map that the threads of a process share. Its words lie in a table in C++
// (src/locks/lock_table.h). A lock here is this thread's part of a key, and is idle when this
// thread neither holds the key nor waits for it.
const { KeyMap } = require('../core/key_map.js')
const { fromText, toText } = require('../core/key_text.js')
const { nameOf } = require('../core/keys.js')
const { IdlePromise } = require('../core/lock.js')
const native = require('../addon/load.js')
const { closeTable, tableOf, unshare } = require('./shares.js')

/** The objects that use a map. */
const users = new FinalizationRegistry((map) => map.isLeft())

/** By table, the maps of this thread for its keys. */
const mapsOf = new Map()

/** The promise of onIdle() of all maps with the same keys. */
class CommonPromise extends IdlePromise {
  drop(map) {
    for (const one of map.alike()) super.drop(one)
  }
}

class SharedKeyMap extends KeyMap {
  /** The number of objects that use it. */
  #users = 0
  /** The names of its tables. */
  #tables = new Set()
  /** Called when the map has neither users nor busy keys any more: see mapIn(). */
  onGone = () => {}

  constructor(make, name, table, most) {
    super([], make, name, most)
    this.table = table
  }

  get scope() {
    return 'process'
  }

  /** Its table is open. */
  isMade() {
    const others = mapsOf.get(this.table) ?? new Set()
    mapsOf.set(this.table, others)
    const [other] = others
    others.add(this)
    if (other !== undefined) this.#awaitAs(other)
  }

  /** Objects whose settings differ have maps of their own for the keys of one table. */
  alike() {
    return [...mapsOf.get(this.table)]
  }

  onIdle() {
    if (this.idleListener === null) {
      const maps = this.alike()
      this.idleListener = new CommonPromise()
      this.awaited = new Set(maps.flatMap((map) => [...map.locks()]))
      for (const map of maps) map.#awaitAs(this)
    }
    return super.onIdle()
  }

  #awaitAs({ idleListener, awaited }) {
    this.idleListener = idleListener
    this.awaited = awaited
  }

  keepFor(user) {
    this.#users++
    users.register(user, this)
  }

  /** One of its users has been collected. */
  isLeft() {
    this.#users--
    if (this.#users === 0) this.#endIfUnused()
  }

  drop(lock) {
    super.drop(lock)
    if (this.#users === 0) this.#endIfUnused()
  }

  #endIfUnused() {
    if (this.isGone || !this.clear()) return
    this.isGone = true
    this.onGone()
    mapsOf.get(this.table).delete(this)
    if (mapsOf.get(this.table).size === 0) mapsOf.delete(this.table)
    for (const name of this.#tables) closeTable(name, this)
  }

  /** The table of that name, which stays open as long as the map is in use. */
  openTable(name, start, title, argument) {
    const table = tableOf(name, start, this, title, argument)
    this.#tables.add(name)
    return table
  }

  moveIn(lock) {
    lock.shareByKey(this.table, toText(lock.key))
  }

  moveOut(lock) {
    // A releaser may still refer to it, so another key must not reuse it. The mark keeps it from
    // being dropped twice, by a release that was under way.
    lock.isListed = true
    lock.shared.unlisten(lock)
    unshare(lock.shared)
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

/**
 * The map of `id` among `maps`, which all objects of this thread share, or that of make(). It stays there as long as an
 * object uses it (keepFor()), or one of its keys is busy: the holder of a key may have no object.
 */
function mapIn(maps, id, make) {
  let map = maps.get(id)
  if (map === undefined) {
    map = make()
    map.isMade()
    map.onGone = () => maps.delete(id)
    maps.set(id, map)
  }
  return map
}

const maps = new Map()

/**
 * The key map shared by all objects of this thread with that kind, name and settings, whose locks
 * are of class `Kind` and begin with `value`.
 */
function keyMapByName({ name: kind }, Kind, value, { name, isStrict, mayBlock }, watch) {
  const id = `keyed ${kind} ${toText(name)}`
  const own = `${value} ${isStrict} ${mayBlock} ${watch?.traits} ${id}`
  return mapIn(maps, own, () => {
    const make = () => Object.assign(new Kind(value), { isStrict, mayBlock })
    const map = new SharedKeyMap(watch === undefined ? make : () => watch.watches(make()), name)
    const title = `the keyed ${kind} ${nameOf(name)}`
    map.table = map.openTable(id, Kind.idleWord(value), title, Kind.prototype.argument)
    return map
  })
}

module.exports = { keyMapByName, mapIn, SharedKeyMap }
