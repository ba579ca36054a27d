'use strict'
// Memory for the words of locks that somebody waits for, and of locks that threads share. C++ knows a
// word by its place: the number of its region, and its index in it.
const native = require('./load.js')

const indexBits = 14 // as in binding/event_loop.h
const regionWords = 1 << indexBits
const regions = []
const freePlaces = []
let current = 0
let used = regionWords

/** A place for a word of our own, 0 at first, until givePlace. */
function takePlace() {
  if (freePlaces.length > 0) return freePlaces.pop()
  if (used === regionWords) grow()
  return (current << indexBits) | used++
}

function givePlace(place) {
  wordsOf(place)[indexOf(place)] = 0
  freePlaces.push(place)
}

function grow() {
  const words = new Int32Array(new SharedArrayBuffer(regionWords * Int32Array.BYTES_PER_ELEMENT))
  current = native.attach(words, 0)
  regions[current] = words
  used = 0
}

const indexOf = (place) => place & (regionWords - 1)
const wordsOf = (place) => regions[place >>> indexBits]

const shared = new FinalizationRegistry((region) => {
  // With the last object that stands for this word.
  if (native.detach(region) === 0) ended.delete(region << indexBits)
})

/** The place of the one word in `words`, which other threads may see, for as long as `core` lives. */
function sharedPlace(core, words) {
  const region = native.attach(words, 1)
  shared.register(core, region)
  return region << indexBits
}

// How many grants of this thread are over, by shared place: several objects may stand for one word.
const ended = new Map()
const grantAt = (place) => ended.get(place) ?? 0
const startGrantsAt = (place, grant) => ended.set(place, grant)
const endGrantAt = (place) => ended.set(place, grantAt(place) + 1)

module.exports = {
  endGrantAt,
  givePlace,
  grantAt,
  indexOf,
  sharedPlace,
  startGrantsAt,
  takePlace,
  wordsOf,
}
