'use strict'
// The mutexes that threads of the process share, in this thread: one for each place where a word lies, whatever
// number of objects stands for it.
const { nameOf, toText } = require('../core/keys.js')
const { ConditionalMutex } = require('./conditional_mutex.js')
const { lockKind, MutexLender } = require('./mutex_lender.js')
const { SharedKeyMap } = require('./shared_key_map.js')
const { letGoOf, placeInMemory, placeOfKey, tableOf } = require('./shares.js')

const start = 0

/** WeakRefs by place: objects, waiters and releasers keep their mutex. */
const mutexes = new Map()
const collected = new FinalizationRegistry((place) => {
  if (letGoOf(place)) mutexes.delete(place)
})

/** The mutex at `place`, which this thread has found; or make() makes it. */
function mutexAt(place, make) {
  const known = mutexes.get(place)?.deref()
  if (known !== undefined) {
    letGoOf(place) // it has been found once more
    return known
  }
  const mutex = make()
  mutex.lender.settleAt(place)
  // Its last object may have been collected while it was held.
  if (mutexes.has(place) && mutex.lender.isOurs()) mutex.arrives()
  mutexes.set(place, new WeakRef(mutex))
  collected.register(mutex, place)
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
  const mutex = mutexAt(place, () => {
    const made = new ConditionalMutex(new MutexLender(name))
    if (kind !== made.kind) made.kind = kind
    return made
  })
  if (isStrict) mutex.beStrict()
  return mutex
}

function placeInBuffer(buffer, byteOffset) {
  const memory = buffer ?? new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  return placeInMemory(new Int32Array(memory, byteOffset, 1), lockKind, start)
}

const placeOfName = (kind, name) => placeOfKey(tableOf(kind), toText(name), lockKind, start)

/** Key maps of class `Base` whose locks are lent mutexes. */
const lentKeyMap = (Base) =>
  class extends Base {
    /** Whether an object of this thread has asked for that. */
    isStrict = false

    moveIn(mutex) {
      super.moveIn(mutex)
      if (this.isStrict) mutex.beStrict()
      if (this.watch !== undefined) this.watch.watches(mutex)
    }

    /** One more object of this thread. */
    isFor(isStrict, watch) {
      if (isStrict && !this.isStrict) this.beStrict()
      if (watch !== undefined && this.watch === undefined) this.beWatched(watch)
    }

    beStrict() {
      this.isStrict = true
      this.sweep() // those that are idle move in anew
      for (const mutex of this.busy()) mutex.beStrict()
    }

    /** Of the objects with diagnostics, the first one's are those of all. */
    beWatched(watch) {
      this.sweep()
      watch.over(this)
      for (const mutex of this.busy()) watch.watches(mutex)
    }
  }

const LentKeyMap = lentKeyMap(SharedKeyMap)
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
  map.isFor(isStrict, watch)
  return map
}

module.exports = { lentKeyMap, mutexAt, openKeyedMutexes, openMutex }
