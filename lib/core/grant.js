'use strict'
// The argument of a callback under a read-write lock. It is not the releaser, with which the callback could upgrade or
// downgrade the grant that ends with the call.
const { defineLazy, localGrant } = require('./releaser.js')

const told = ['fencingToken', 'fencingTokens', 'signal']

/** Returns the properties of the releaser `release` as a grant, without its methods. */
function grantOf(release) {
  const { abandoned } = release
  if (!abandoned && !('fencingToken' in release || 'signal' in release)) return localGrant
  const grant = { abandoned }
  for (const name of told) {
    if (name in release) defineLazy(grant, name, () => release[name])
  }
  return grant
}

module.exports = { grantOf }
