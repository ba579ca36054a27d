'use strict'
// Memory for the words of locks. C++ identifies a word by its index: the number of its region, and
// its offset there.
const native = require('../addon/load.js')

/** `queued`: the bit of every word that says that waiters queue. */
const { indexBits, queued } = native.layout.words
const regionWords = 1 << indexBits
const regions = []

/** C++ has assigned `wordIndex` to a lock that threads share: in `words`, or in memory of C++. */
function mapWords(wordIndex, words) {
  const region = wordIndex >>> indexBits
  regions[region] = words ?? regions[region] ?? native.regions.array(region)
}

/** No lock uses `wordIndex` any more: drops the user's memory; memory of C++ can be mapped again. */
function unmapWords(wordIndex) {
  unmapRegion(wordIndex >>> indexBits)
}

/** Drops the user's memory of a whole region. */
function unmapRegion(region) {
  regions[region] = undefined
}

const offsetOf = (wordIndex) => wordIndex & (regionWords - 1)
const wordsOf = (wordIndex) => regions[wordIndex >>> indexBits]

module.exports = { mapWords, offsetOf, queued, unmapRegion, unmapWords, wordsOf }
