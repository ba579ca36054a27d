'use strict'
// A key map that the threads of a process share. The words of its keys lie in a table in C++ (src/locks/lock_table.h).
// A lock here is this thread's part of a key. It is idle when this thread neither holds the key nor waits for it.
const { KeyMap } = require('../core/key_map.js')
const { fromText, toText } = require('../core/key_text.js')
const { nameOf } = require('../core/keys.js')
const { IdlePromise } = require('../core/lock.js')
const native = require('../addon/load.js')
const { closeTable, tableOf, unshare } = require('./shares.js')

/** Tells a map when one of its objects has been collected. */
const users = new FinalizationRegistry((map) => map.isLeft())

/** The maps of this thread, by their table. */
const mapsOf = new Map()

/** The promise of onIdle() that all maps of one table share. */
class CommonPromise extends IdlePromise {
  drop(map) {
    for (const one of map.alike()) super.drop(one)
  }
}

class SharedKeyMap extends KeyMap {
  scope = 'process'
  #users = 0
  /** The names of the tables that the map keeps open. */
  #tables = new Set()
  /** Called when the map has no users and no busy keys left: see commonMapOf(). */
  onGone = () => {}

  constructor(make, name, table, most) {
    super([], make, name, most)
    this.table = table
  }

  /** Called once the table is open. */
  isMade() {
    const others = mapsOf.get(this.table) ?? new Set()
    mapsOf.set(this.table, others)
    const [other] = others
    others.add(this)
    if (other !== undefined) this.#awaitAs(other)
  }

  /** Returns all maps of this table. Objects with different settings have separate maps. */
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

  /** Called when an object that used the map has been collected. */
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

  /** Opens the table of `kind` for the map's name. It then stays open as long as the map is in use. */
  openTable(kind, start, title, argument) {
    const name = `${kind} ${toText(this.name)}`
    const table = tableOf(name, start, this, title, argument)
    this.#tables.add(name)
    return table
  }

  moveIn(lock) {
    lock.shareByKey(this.table, toText(lock.key))
  }

  moveOut(lock) {
    // A releaser may still refer to the lock, so another key must not reuse it. The mark keeps a release that is under
    // way from dropping it a second time.
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

/** The key maps of this thread by an `id` of the scope, the kind, the name and what else tells its objects apart. */
const maps = new Map()

/**
 * Returns the map of `id`, which all objects of this thread share. Makes it by make() if there is none. It stays in
 * `maps` as long as an object uses it (keepFor()) or one of its keys is busy, which the holder may have without an
 * object.
 */
function commonMapOf(id, make) {
  let map = maps.get(id)
  if (map === undefined) {
    map = make()
    map.isMade()
    map.onGone = () => maps.delete(id)
    maps.set(id, map)
  }
  return map
}

/**
 * Returns the key map that all objects of this thread with that kind, name and settings share. Its locks are of class
 * `Kind` and begin with `value`.
 */
function keyMapByName({ name: kind }, Kind, value, { name, isStrict, mayBlock }, watch) {
  const what = `keyed ${kind}`
  const own = `${value} ${isStrict} ${mayBlock} ${watch?.traits} ${what} ${toText(name)}`
  return commonMapOf(own, () => {
    const make = () => Object.assign(new Kind(value), { isStrict, mayBlock })
    const map = new SharedKeyMap(watch === undefined ? make : () => watch.watches(make()), name)
    const title = `the ${what} ${nameOf(name)}`
    const { idle, argument } = new Kind(value)
    map.table = map.openTable(what, idle, title, argument)
    return map
  })
}

module.exports = { commonMapOf, keyMapByName, SharedKeyMap }
