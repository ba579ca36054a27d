'use strict'
// The addon, loaded with the first lock of a scope wider than the thread. `imports` of package.json
// maps `#addon` to find.js, or in a bundle to none.js, because most bundlers fail at a binary
// without further settings.
const native = require('#addon')
const { warn } = require('../core/warn.js')
const { adviceForAddon, isBundled } = require('./bundle_advice.js')

if (native.realm === undefined) {
  throw new Error(`boxoffice runs from a bundle, without its addon. ${adviceForAddon}`)
}

/** The path of this copy of the package, for error messages. */
function place() {
  if (typeof __filename === 'undefined') return process.argv[1] ?? 'a bundle'
  // In an ES module made by esbuild, require() finds no module of Node.js.
  return isBundled ? __filename : require('node:path').join(__dirname, '..', '..')
}

// Copies of the same sources share their locks.
const here = place()
const other = native.copies.join(here)
if (other !== null) {
  warn(
    'BOXOFFICE_COPIES',
    `two copies of boxoffice that differ are in this process, at ${other} and ${here}: they share only locks of scope host and over engines. Install one version`,
  )
}

module.exports = native
