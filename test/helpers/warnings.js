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

/**
 * For a describe whose tests cause warnings of `code`: Node.js does not print these from now on. A warning that stands for
 * several comes up to a second later, when other tests run.
 */
function useWarnings(code) {
  before(() => {
    const usual = process.listeners('warning')
    process.removeAllListeners('warning')
    process.on('warning', (warning) => {
      if (warning.code !== code) for (const listener of usual) listener.call(process, warning)
    })
  })
}

module.exports = { useWarnings, warningsOf }
