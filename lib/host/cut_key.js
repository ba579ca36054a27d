'use strict'
// A long key that only other threads or processes hold: a segment has room for its beginning alone. It is no key:
// methods of locks refuse it, where a text would be taken for another key.

class CutKey {
  #place

  /** `type` is that of the key, `beginning` the first characters of its text, `place` where the segment has it. */
  constructor(type, beginning, place) {
    this.type = type
    this.beginning = beginning
    this.#place = place
  }

  /** Identifies the key: the same for all threads, and different for each busy key. */
  get id() {
    return `${this} at ${this.#place}`
  }

  toString() {
    return `${this.beginning}…`
  }
}

const types = { s: 'string', j: 'string', n: 'number', b: 'bigint' }

/** The CutKey for a text that ends with an ellipsis (src/host/key_entry.h). */
function cutKeyOf(text, place) {
  const type = types[text[0]]
  // A text in JSON begins with a quotation mark.
  const beginning = text.slice(text[0] === 'j' ? 2 : 1, -1)
  return type === undefined
    ? new CutKey('string', text.slice(0, -1), place)
    : new CutKey(type, beginning, place)
}

module.exports = { CutKey, cutKeyOf }
