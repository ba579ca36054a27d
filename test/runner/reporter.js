'use strict'
// mocha's reporter "spec", which also writes what mocha_suite.js reads, to the file BOXOFFICE_REPORT.
const { writeFileSync } = require('node:fs')
const { reporters } = require('mocha')

class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const failures = []
    runner.on('fail', (test, error) => failures.push(describeFailure(test, error)))
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
