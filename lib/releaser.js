'use strict'
// What acquire gives: a function that lets go of one grant, once, with the names that `using` and
// people look for. Own properties, not a prototype: changing a function's prototype costs three
// times as much as all of them.

const done = Promise.resolve()

/** Of a releaser that tells of a death, and whose caller never saw it: lets go, and the next one is told. */
const unseen = Symbol('unseen')

function asyncDispose() {
  this()
  return done
}

function dressed(release, abandoned) {
  release.release = release
  release[Symbol.dispose] = release
  release[Symbol.asyncDispose] = asyncDispose
  release.abandoned = abandoned
  return release
}

module.exports = { dressed, unseen }
