'use strict'
// Memory for the words of locks. C++ identifies a word by its place: the number of its region, and
// its index there.
const native = require('../addon/load.js')

/** `queued`: the bit of every word that says that waiters queue. */
const { indexBits, queued } = native.layout.words
const regionWords = 1 << indexBits
const regions = []

/** C++ has assigned `place` to a lock that threads share: in `words`, or in memory of C++. */
function mapWords(place, words) {
  const region = place >>> indexBits
  regions[region] = words ?? regions[region] ?? native.regions.array(region)
}

/** No lock uses `place` any more: drops the user's memory; memory of C++ can be mapped again. */
function unmapWords(place) {
  unmapRegion(place >>> indexBits)
}

/** Drops the user's memory of a whole region. */
function unmapRegion(region) {
  regions[region] = undefined
}

const indexOf = (place) => place & (regionWords - 1)
const wordsOf = (place) => regions[place >>> indexBits]

module.exports = { indexOf, mapWords, queued, unmapRegion, unmapWords, wordsOf }
