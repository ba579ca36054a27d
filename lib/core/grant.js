'use strict'
// What a callback under a read-write lock gets: it must not upgrade or downgrade by the releaser that ends its call.
const { defineLazy, localGrant } = require('./releaser.js')

const told = ['fencingToken', 'fencingTokens', 'signal']

/** The grant that `release` ends, as a callback under it sees it: what the releaser says, without what it does. */
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
