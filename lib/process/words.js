'use strict'
// Memory for the words of locks. C++ knows a word by its place: the number of its region, and its index
// in it.
const native = require('../load.js')

const indexBits = 14 // as in binding/regions.h
const regionWords = 1 << indexBits
const regions = []

/** C++ has chosen `place` for a lock that threads share: in `words`, or in memory of its own. */
function mapWords(place, words) {
  const region = place >>> indexBits
  regions[region] = words ?? regions[region] ?? native.regions.array(region)
}

/** No lock lies there any more: memory of the user's is let go, and what is ours is found again. */
function unmapWords(place) {
  regions[place >>> indexBits] = undefined
}

const indexOf = (place) => place & (regionWords - 1)
const wordsOf = (place) => regions[place >>> indexBits]

module.exports = { indexOf, mapWords, unmapWords, wordsOf }
