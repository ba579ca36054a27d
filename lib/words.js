'use strict'
// Memory for the words of locks that nobody else shares: slots of a few large regions. A slot is a
// number, region * regionWords + index, so that a lock's share of it is four bytes.
const native = require('./load.js')

const regionWords = 1 << 14
const regions = new Map()
const freeSlots = []
let current
let used = regionWords

/** A slot whose word is 0. */
function takeSlot() {
  if (freeSlots.length > 0) return freeSlots.pop()
  if (used === regionWords) grow()
  return current * regionWords + used++
}

function grow() {
  const words = new Int32Array(new SharedArrayBuffer(regionWords * Int32Array.BYTES_PER_ELEMENT))
  current = native.attach(words, 0)
  regions.set(current, words)
  used = 0
}

const slots = new FinalizationRegistry((slot) => {
  Atomics.store(wordsOf(slot), indexOf(slot), 0)
  freeSlots.push(slot)
})

const shared = new FinalizationRegistry((region) => native.detach(region))

/** Gives `core` a word of its own, for as long as it lives. */
function place(core) {
  const slot = takeSlot()
  slots.register(core, slot)
  core.words = wordsOf(slot)
  core.region = regionOf(slot)
  core.index = indexOf(slot)
}

/** Gives `core` the word at `byteOffset` of memory that other threads may see. */
function placeIn(core, buffer, byteOffset) {
  const words = new Int32Array(buffer, byteOffset, 1)
  const region = native.attach(words, 1)
  shared.register(core, region)
  core.words = words
  core.region = region
  core.index = 0
}

const regionOf = (slot) => Math.floor(slot / regionWords)
const indexOf = (slot) => slot % regionWords
const wordsOf = (slot) => regions.get(regionOf(slot))

module.exports = { place, placeIn }
