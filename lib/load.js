'use strict'
// The addon, loaded with the first lock of a wider scope than the thread. `imports` of package.json says what `#addon`
// is: addon.js, or in a bundle no_addon.js, since most bundlers fail at a binary unless they are told what to do with it.
const native = require('#addon')
const { adviceForBundles } = require('./bundle_advice.js')

if (native.realm === undefined) {
  throw new Error(`boxoffice runs from a bundle, without its addon. ${adviceForBundles}`)
}

module.exports = native
