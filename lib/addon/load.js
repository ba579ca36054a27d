'use strict'
// The addon, loaded with the first lock of a scope wider than the thread. `imports` of package.json
// maps `#addon` to find.js, or in a bundle to none.js, because most bundlers fail at a binary
// without further settings.
const native = require('#addon')
const { adviceForAddon } = require('./bundle_advice.js')

if (native.realm === undefined) {
  throw new Error(`boxoffice runs from a bundle, without its addon. ${adviceForAddon}`)
}

module.exports = native
