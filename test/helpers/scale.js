'use strict'
// The scale of the long tests: BOXOFFICE_TEST_SCALE=0.02 for a fiftieth, as under a sanitizer.

const scale = Number(process.env.BOXOFFICE_TEST_SCALE ?? 1)

/** So many, at this scale; never less than `least`. */
function scaled(count, least = 1) {
  return Math.max(least, Math.round(count * scale))
}

module.exports = { scaled }
