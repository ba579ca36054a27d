'use strict'
// The mutexes that threads of the process share, in this thread: one for each place where a word lies, whatever
// number of objects stands for it.
const { nameOf, toText } = require('../core/keys.js')
const { LentMutex } = require('../core/lent_mutex.js')
const { MutexLender } = require('./mutex_lender.js')
const { SharedKeyMap } = require('./shared_key_map.js')
const { letGoOf, placeInMemory, placeOfKey, tableOf } = require('./shares.js')

/** LockKind of src/locks/lock_table.h. */
const lockKind = 0
const start = 0

/** WeakRefs by place: objects, waiters and releasers keep their mutex. */
const mutexes = new Map()
const collected = new FinalizationRegistry((place) => {
  if (letGoOf(place)) mutexes.delete(place)
})

function mutexAt(place, name, kind) {
  const known = mutexes.get(place)?.deref()
  if (known !== undefined) {
    letGoOf(place) // it has been found once more
    return known
  }
  const mutex = new LentMutex(new MutexLender(place, name))
  if (kind !== mutex.kind) mutex.kind = kind
  mutexes.set(place, new WeakRef(mutex))
  collected.register(mutex, place)
  // Its last object was collected while it was held.
  if (mutex.lender.isOurs()) mutex.arrives()
  return mutex
}

/** The mutex of the threads that know its name, or its memory. `kind` is what errors call it. */
function openMutex(kind, { name, buffer, byteOffset, isStrict }) {
  let place
  try {
    place = name === undefined ? placeInBuffer(buffer, byteOffset) : placeOfName(kind, name)
  } catch (error) {
    error.message = `the ${kind}${name === undefined ? '' : ` ${nameOf(name)}`}: ${error.message}`
    throw error
  }
  const mutex = mutexAt(place, name, kind)
  if (isStrict) mutex.beStrict()
  return mutex
}

function placeInBuffer(buffer, byteOffset) {
  const memory = buffer ?? new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  return placeInMemory(new Int32Array(memory, byteOffset, 1), lockKind, start)
}

const placeOfName = (kind, name) => placeOfKey(tableOf(kind), toText(name), lockKind, start)

/** The keys of a keyed mutex that the threads of the process share. */
class LentKeyMap extends SharedKeyMap {
  /** Whether an object of this thread has asked for that. */
  isStrict = false

  moveIn(mutex) {
    try {
      mutex.lender.settleAt(placeOfKey(this.table, toText(mutex.key), lockKind, start))
    } catch (error) {
      error.message = `${mutex.title()}: ${error.message}`
      throw error
    }
    if (mutex.lender.isOurs()) mutex.arrives()
    if (this.isStrict) mutex.beStrict()
    if (this.watch !== undefined) this.watch.watches(mutex)
  }

  moveOut(mutex) {
    // As in SharedKeyMap.
    mutex.isListed = true
    letGoOf(mutex.lender.place)
    return false
  }

  beStrict() {
    this.isStrict = true
    this.sweep() // those that are idle move in anew
    for (const mutex of this.busy()) mutex.beStrict()
  }

  /** Of the objects with diagnostics, the first one's are those of all. */
  beWatched(watch) {
    if (this.watch !== undefined) return
    this.sweep()
    watch.over(this)
    for (const mutex of this.busy()) watch.watches(mutex)
  }
}

const maps = new Map()

/** The keyed mutexes of that kind and name: all objects of this thread have one map, which stays. */
function openKeyedMutexes(kind, { name, isStrict }, watch) {
  const id = `keyed ${kind.name} ${toText(name)}`
  let map = maps.get(id)
  if (map === undefined) {
    const Mutex = kind.lent()
    const table = tableOf(id, start, `the keyed ${kind.name} ${nameOf(name)}`)
    map = new LentKeyMap(() => new Mutex(new MutexLender()), name, table)
    maps.set(id, map)
  }
  if (isStrict && !map.isStrict) map.beStrict()
  if (watch !== undefined) map.beWatched(watch)
  return map
}

module.exports = { openKeyedMutexes, openMutex }
