'use strict'
// The warnings that this process emits, which are expected and not printed.
const { once } = require('node:events')

/** Resolves to the next warning of `code`: those of other tests may come up to a second later. */
async function nextWarning(code) {
  for (;;) {
    const [warning] = await once(process, 'warning')
    if (warning.code === code) return warning
  }
}

/** The warnings of `code` while `action` runs. */
async function warningsOf(code, action) {
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
  return warnings.filter((warning) => warning.code === code)
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

module.exports = { nextWarning, useWarnings, warningsOf }
