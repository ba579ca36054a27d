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
  else if (currentTest !== undefined) explain(currentTest)
  else test.parent.eachTest(explain)
  context.skip()
}

const needsHost = 'scope host does not run on Windows'

module.exports = { needsHost, skip, withReason }
