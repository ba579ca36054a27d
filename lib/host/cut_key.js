'use strict'
// A CutKey stands for a long key that only other threads or processes use: the segment stores only its beginning. It is
// an object, so that methods of locks reject it. They would take a string for another key.

class CutKey {
  #wordIndex

  /**
   * `type` is the type of the key, `beginning` the first characters of its text, `wordIndex` its place in the segment.
   */
  constructor(type, beginning, wordIndex) {
    this.type = type
    this.beginning = beginning
    this.#wordIndex = wordIndex
  }

  /** Identifies the key: the same for all threads, and different for each busy key. */
  get id() {
    return `${this} at ${this.#wordIndex}`
  }

  toString() {
    return `${this.beginning}…`
  }
}

const types = { s: 'string', j: 'string', n: 'number', b: 'bigint' }

/** Returns the CutKey for a stored text, which ends with an ellipsis (src/host/key_entry.h). */
function cutKeyOf(text, wordIndex) {
  const type = types[text[0]]
  // A text in JSON has a quotation mark after its type.
  const beginning = text.slice(text[0] === 'j' ? 2 : 1, -1)
  return type === undefined
    ? new CutKey('string', text.slice(0, -1), wordIndex)
    : new CutKey(type, beginning, wordIndex)
}

module.exports = { CutKey, cutKeyOf }
