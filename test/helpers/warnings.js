'use strict'
// The warnings that this process emits, which are expected and not printed.

/** The warnings of this package while `action` runs. */
async function warningsOf(action) {
  const usual = process.listeners('warning')
  const warnings = []
  process.removeAllListeners('warning')
  process.on('warning', (warning) => warnings.push(warning))
  try {
    await action()
    // Node.js emits them in the next tick.
    await new Promise(setImmediate)
  } finally {
    process.removeAllListeners('warning')
    for (const listener of usual) process.on('warning', listener)
  }
  return warnings.filter(({ name }) => name === 'BoxofficeWarning')
}

/** For a describe whose tests await warnings: Node.js does not print them meanwhile. */
function useWarnings() {
  let usual
  before(() => {
    usual = process.listeners('warning')
    process.removeAllListeners('warning')
  })
  after(() => {
    for (const listener of usual) process.on('warning', listener)
  })
}

module.exports = { useWarnings, warningsOf }
