'use strict'
// A callback between the grant of a lock and its end.
const { checkCallback } = require('../core/options.js')
const { checkStack } = require('../core/stack.js')

/**
 * What `callback` makes of the releaser that `grant` promises: a promise. Where there is none, of undefined. `key` is of
 * a keyed lock.
 */
async function run(callback, grant, key) {
  checkCallback(callback, key)
  const release = await grant()
  if (release === undefined) return undefined
  try {
    return await callback(release)
  } finally {
    release()
  }
}

/** The same for a thread that blocks. */
function runSync(callback, grant, key) {
  checkCallback(callback, key)
  checkStack()
  const release = grant()
  try {
    return callback(release)
  } finally {
    release()
  }
}

module.exports = { run, runSync }
