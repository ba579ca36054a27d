'use strict'

/** A title that says why its test does not run: reporter.js asks for it. */
const withReason = (title, reason) => `${title} (not run: ${reason})`

/** Skips the test of mocha's `context`, or all tests of its hook. Their titles say the reason. */
function skip(context, reason) {
  const { test, currentTest } = context
  const explain = (one) => {
    one.title = withReason(one.title, reason)
  }
  if (test.type === 'test') explain(test)
  else if (test.title.startsWith('"before all"')) test.parent.eachTest(explain)
  else explain(currentTest)
  context.skip()
}

const isWindows = process.platform === 'win32'
// Wine hands the variables of its own system on to the programs that it runs.
const isWine = isWindows && process.env.WINEPREFIX !== undefined
const needsPosix = 'Windows has no such signals, rights or files'

/** it(), for tests that need what only POSIX systems have. */
function itOnPosix(title, body) {
  if (isWindows) it.skip(withReason(title, needsPosix))
  else it(title, body)
}

/** In a describe(): all its tests need what only POSIX systems have. */
function onlyOnPosix() {
  before(function () {
    if (isWindows) skip(this, needsPosix)
  })
}

module.exports = { isWindows, isWine, itOnPosix, onlyOnPosix, skip, withReason }
