'use strict'
// What a callback under a read-write lock gets: it must not upgrade or downgrade by the releaser that ends its call.
const { localGrant } = require('./releaser.js')

/** What `release` says, without what it does. */
class Grant {
  #release

  constructor(release) {
    this.#release = release
  }

  get abandoned() {
    return this.#release.abandoned
  }

  get fencingToken() {
    return this.#release.fencingToken
  }

  get fencingTokens() {
    return this.#release.fencingTokens
  }

  get signal() {
    return this.#release.signal
  }
}

/** The grant that `release` ends, as a callback under it sees it. */
function grantOf(release) {
  const isPlain = !release.abandoned && !('fencingToken' in release || 'signal' in release)
  return isPlain ? localGrant : new Grant(release)
}

module.exports = { grantOf }
