'use strict'
// The constructor's options `timeout` and `maxPending`: defaults for the waits of its object, which each wait may
// override.

/** The options of a wait as the caller gave them, with the defaults of the object. Read by readWait(). */
class WithDefaults {
  constructor(given, defaults) {
    this.given = given
    this.defaults = defaults
  }

  /** Completes `limits`, which the wait's own options gave. `known` has the options that the wait takes. */
  complete(limits, known) {
    const { timeout, maxPending } = this.defaults
    const completed = { ...limits, timeout: limits.timeout ?? timeout }
    if (known.has('maxPending')) completed.maxPending ??= maxPending
    return completed
  }
}

/** Returns the `options` of a wait completed by the `defaults` of its object. */
function completed(options, defaults) {
  // A function in place of options is an error, which the code that takes the callback reports.
  return typeof options === 'function' ? options : new WithDefaults(options, defaults)
}

const givenOf = (options) => (options instanceof WithDefaults ? options.given : options)

module.exports = { completed, givenOf, WithDefaults }
