'use strict'
// The mutexes of this thread that the threads of the process share. All objects for one word share one mutex.
const { commonMap } = require('../core/common_map.js')
const { toText } = require('../core/key_text.js')
const { nameOf } = require('../core/keys.js')
const { LentMutex } = require('../core/lent_mutex.js')
const { ConditionalMutex } = require('./conditional_mutex.js')
const { constructionError } = require('./construction_errors.js')
const { lockKind, MutexLender } = require('./mutex_lender.js')
const { commonMapOf, SharedKeyMap } = require('./shared_key_map.js')
const { indexInMemory, indexOfKey, letGoOf, tableOfNames } = require('./shares.js')

const start = 0

/**
 * Entries { ref, segment, awaited } by word index. Objects and releasers keep their mutex alive, and so does `awaited`
 * while callers wait for it. At scope host `segment` keeps the segment of a mutex alive that is held without an object.
 */
const mutexes = new Map()
const collected = new FinalizationRegistry((wordIndex) => {
  if (letGoOf(wordIndex)) mutexes.delete(wordIndex)
})

/** Returns this thread's mutex at `wordIndex`. Creates it by make() if there is none. */
function mutexAt(wordIndex, make, segment) {
  const known = mutexes.get(wordIndex)?.ref.deref()
  if (known !== undefined) {
    letGoOf(wordIndex) // the lookup in C++ has counted one object too many
    return known
  }
  const mutex = make()
  mutex.lender.attachAt(wordIndex)
  // The last mutex of this word may have been collected while this thread held it.
  if (mutexes.has(wordIndex) && mutex.lender.isOurs()) mutex.arrives()
  mutex.entry = { ref: new WeakRef(mutex), segment, awaited: null }
  mutexes.set(wordIndex, mutex.entry)
  collected.register(mutex, wordIndex)
  return mutex
}

/** Opens the mutex that all threads with its name or memory share. Errors call it `kind`. */
function openMutex(kind, { name, buffer, byteOffset, isStrict }) {
  let wordIndex
  try {
    wordIndex = name === undefined ? indexInBuffer(buffer, byteOffset) : indexOfName(kind, name)
  } catch (error) {
    throw constructionError(error, `the ${kind}${name === undefined ? '' : ` ${nameOf(name)}`}`)
  }
  const mutex = mutexAt(wordIndex, () => {
    const made = new ConditionalMutex(new MutexLender(name))
    if (kind !== made.kind) made.kind = kind
    return made
  })
  if (isStrict) mutex.beStrict()
  return mutex
}

function indexInBuffer(buffer, byteOffset) {
  const memory = buffer ?? new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  return indexInMemory(new Int32Array(memory, byteOffset, 1), lockKind, start)
}

const indexOfName = (kind, name) => indexOfKey(tableOfNames(kind), toText(name), lockKind, start)

const LentKeyMap = commonMap(SharedKeyMap)

/** Opens the key map for keyed mutexes of that kind and name. All objects of this thread share it. */
function openKeyedMutexes(kind, { name, isStrict }, watch) {
  const what = `keyed ${kind.name}`
  const map = commonMapOf(`${what} ${toText(name)}`, () => {
    const made = new LentKeyMap(() => new LentMutex(new MutexLender()), name)
    made.table = made.openTable(what, start, `the ${what} ${nameOf(name)}`)
    return made
  })
  map.isFor(isStrict, watch)
  return map
}

module.exports = { mutexAt, openKeyedMutexes, openMutex }
