'use strict'
/** The end of a timeout's message without diagnostics: browsers have no such variable. */
const holdersHint =
  process.platform === 'browser' ? '' : '; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it'

module.exports = { holdersHint }
