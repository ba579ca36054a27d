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
  const region = regionOf(wordIndex)
  regions[region] = words ?? regions[region] ?? native.regions.array(region)
}

/** Drops the memory of a region whose locks this thread no longer uses. Memory of C++ can be mapped again. */
function unmapRegion(region) {
  regions[region] = undefined
}

const regionOf = (wordIndex) => wordIndex >>> indexBits
const offsetOf = (wordIndex) => wordIndex & (regionWords - 1)
const wordsOf = (wordIndex) => regions[regionOf(wordIndex)]

module.exports = { mapWords, offsetOf, queued, regionOf, unmapRegion, wordsOf }
