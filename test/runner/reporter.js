'use strict'
// mocha's reporter "spec", which also writes what mocha_suite.js reads, to the file BOXOFFICE_REPORT.
const { writeFileSync } = require('node:fs')
const { reporters } = require('mocha')

const noReason = new Error('It does not run, and does not say why: see test/helpers/skip.js')
/** tries.js knows these words. */
const late = 'It failed after it had passed, and mocha has run no later test of this process.'

class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const failures = []
    let passed
    runner.on('pass', (test) => {
      passed = test.fullTitle()
    })
    runner.on('fail', (test, error) => {
      failures.push(describeFailure(test, error))
      if (test.fullTitle() === passed) failures.at(-1).error = `${late}\n${failures.at(-1).error}`
    })
    runner.on('pending', (test) => {
      if (!/ \(not run: .+\)$/.test(test.title)) failures.push(describeFailure(test, noReason))
    })
    runner.on('end', () => {
      const { passes, pending } = runner.stats
      writeFileSync(process.env.BOXOFFICE_REPORT, JSON.stringify({ passes, pending, failures }))
    })
  }
}

function describeFailure(test, error) {
  return {
    file: test.file ?? error.file,
    title: test.fullTitle(),
    isTest: test.type === 'test',
    error: error.stack ?? String(error),
  }
}

module.exports = Reporter
