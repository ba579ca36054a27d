'use strict'
// The step of a promise or another resource, where nobody else can see it: not even console.log().

/** Gives objects of others a private field, which nobody else can see. */
class Marked {
  constructor(object) {
    // biome-ignore lint/correctness/noConstructorReturn: that is the trick
    return object
  }
}

class Mark extends Marked {
  #step

  static put(resource, step) {
    if (#step in resource) resource.#step = step
    else new Mark(resource).#step = step
  }

  static stepOf(resource) {
    return #step in resource ? resource.#step : undefined
  }
}

module.exports = { Mark }
