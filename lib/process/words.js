'use strict'
// The memory of lock words. A word index identifies a word in C++ and here: it has the number of a region of memory,
// and the word's offset in the region.
const native = require('../addon/load.js')

/** `queued` is the bit of every word that is set while waiters are queued. */
const { indexBits, queued } = native.layout.words
const regionWords = 1 << indexBits
const regions = []

/** Maps the region of `wordIndex`, which C++ has assigned to a lock: in a caller's `words`, or in memory of C++. */
function mapWords(wordIndex, words) {
  const region = wordIndex >>> indexBits
  regions[region] = words ?? regions[region] ?? native.regions.array(region)
}

/** Drops the region of `wordIndex`, which no lock uses any more. Memory of C++ can be mapped again. */
function unmapWords(wordIndex) {
  unmapRegion(wordIndex >>> indexBits)
}

/** Drops the memory of a region. */
function unmapRegion(region) {
  regions[region] = undefined
}

const offsetOf = (wordIndex) => wordIndex & (regionWords - 1)
const wordsOf = (wordIndex) => regions[wordIndex >>> indexBits]

module.exports = { mapWords, offsetOf, queued, unmapRegion, unmapWords, wordsOf }
