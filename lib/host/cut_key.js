'use strict'
// A long key that only other threads or processes hold: a segment has room for its beginning alone. It is no key:
// methods of locks refuse it, where a text would be taken for another key.

class CutKey {
  #wordIndex

  /** `type` is that of the key, `beginning` the first characters of its text, `wordIndex` where the segment has it. */
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

/** The CutKey for a text that ends with an ellipsis (src/host/key_entry.h). */
function cutKeyOf(text, wordIndex) {
  const type = types[text[0]]
  // A text in JSON begins with a quotation mark.
  const beginning = text.slice(text[0] === 'j' ? 2 : 1, -1)
  return type === undefined
    ? new CutKey('string', text.slice(0, -1), wordIndex)
    : new CutKey(type, beginning, wordIndex)
}

module.exports = { CutKey, cutKeyOf }
