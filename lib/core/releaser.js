'use strict'
// What acquire gives: a function that lets go of one grant, once, with the names that `using` and
// people look for. Own properties, not a prototype: changing a function's prototype costs three
// times as much as all of them.

const done = Promise.resolve()

/**
 * Releases a grant that reports a death its caller never saw: the next grant reports it instead.
 */
const undelivered = Symbol('undelivered')

/** What a callback under a lock of one thread gets. */
const localGrant = Object.freeze({ abandoned: false, fencingToken: undefined, signal: undefined })

/**
 * The descriptor of a property of releasers that has the value of `read(release)` when a caller reads it. One serves all
 * releasers: with a getter of its own, each would get a hidden class of its own.
 */
function lazyProperty(read) {
  return {
    __proto__: null,
    configurable: true,
    enumerable: true,
    get() {
      return read(this)
    },
  }
}

function asyncDispose() {
  this()
  return done
}

function makeReleaser(release, abandoned) {
  release.release = release
  release[Symbol.dispose] = release
  release[Symbol.asyncDispose] = asyncDispose
  release.abandoned = abandoned
  return release
}

module.exports = { lazyProperty, localGrant, makeReleaser, undelivered }
