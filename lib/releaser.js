'use strict'
// What acquire gives: a function that lets go of one grant, once, with the names that `using` and
// people look for. Own properties, not a prototype: changing a function's prototype costs three
// times as much as all of them.

const done = Promise.resolve()

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

module.exports = { dressed }
