'use strict'
// The one rule for a test that fails: it is tried again, at most twice, alone in a fresh process, after all other
// tests. A test that passes then is unsteady, and is named with its first error. At most three may be unsteady.
// A failure that proves a defect, however slow the machine is, is never tried again.

const mostTries = 3
const mostUnsteady = 3

/** What a model, an oracle and a sanitizer say, what remains of a crash, and what ends a run of mocha. */
const proofs =
  /oracle: |It failed after it had passed|Property failed after|Uncaught error outside test suite|ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: |Segmentation fault/

/** A failure proves a defect if its file only has oracles, or if its error says so. */
const isProof = ({ isOracle, name, error }) => isOracle || proofs.test(`${name}\n${error}`)

/**
 * Runs the suites, one after the other, and tries again what failed. A suite has `run()`, which returns `{ passed,
 * failures: [{ name, error, isOracle, again }], broken }`: `again()` runs that test alone and returns the same; `broken`
 * says why a run did not come to its end. Returns what there is to report.
 */
function runSuites(suites) {
  const result = { passed: 0, unsteady: [], failed: [] }
  const doubtful = []
  for (const suite of suites) {
    const { passed, failures, broken } = suite.run()
    result.passed += passed
    if (broken) result.failed.push({ name: suite.name, error: broken })
    else if (passed === 0 && failures.length === 0)
      result.failed.push({ name: suite.name, error: 'it ran no test' })
    // After a crash nothing of that process is tried again.
    for (const failure of failures)
      (broken || isProof(failure) ? result.failed : doubtful).push(failure)
  }
  for (const failure of doubtful) tryAgain(failure, result)
  return result
}

function tryAgain(failure, result) {
  for (let attempt = 2; attempt <= mostTries; attempt++) {
    console.log(`\nTry ${attempt} of ${mostTries}, alone: ${failure.name}`)
    const { passed, failures, broken } = failure.again()
    if (broken || failures.some(isProof)) break
    if (passed > 0 && failures.length === 0) {
      result.passed += passed
      return result.unsteady.push({ ...failure, attempt })
    }
  }
  result.failed.push(failure)
}

/** Prints the last lines: what is unsteady, what failed, and the numbers. Returns the exit status. */
function report({ passed, unsteady, failed }) {
  for (const { name, error, attempt } of unsteady)
    console.log(`unsteady: ${name}, passed at try ${attempt}\n${indent(error)}`)
  for (const { name, error } of failed) console.log(`failed: ${name}\n${indent(error)}`)
  const tooMany = unsteady.length > mostUnsteady
  if (tooMany) console.log(`More than ${mostUnsteady} tests are unsteady.`)
  if (unsteady.length > 0) console.log(`${unsteady.length} unsteady`)
  console.log(`${passed} passed, ${failed.length} failed`)
  return failed.length > 0 || tooMany || passed === 0 ? 1 : 0
}

const indent = (text) => text.replace(/^/gm, '  ')

module.exports = { mostUnsteady, report, runSuites }
