'use strict'
// The tests of one program of GoogleTest, in one process, or one test of it.
const path = require('node:path')
const { inScratch, readReport, run } = require('./process.js')

/** The watcher prints the stacks of a program that hangs, and ends it. */
const watched = require.resolve('./watched.js')

class GtestSuite {
  /** `program`: its path; `limit`: the seconds after which it hangs. */
  constructor(program, limit, filter = '*') {
    this.name = path.basename(program)
    this.program = program
    this.limit = limit
    this.filter = filter
  }

  run() {
    return inScratch((folder) => {
      const file = path.join(folder, 'report.json')
      const args = [
        `--gtest_output=json:${file}`,
        `--gtest_filter=${this.filter}`,
        '--gtest_brief=1',
      ]
      const { status, how } = run(process.execPath, [watched, this.limit, this.program, ...args])
      return this.#read(readReport(file), status, how)
    })
  }

  #read(report, status, how) {
    if (!report) return { passed: 0, failures: [], broken: `it came to no end: ${how}` }
    const tests = report.testsuites.flatMap(({ testsuite }) => testsuite)
    const ran = tests.filter(({ result }) => result === 'COMPLETED')
    const failures = ran.filter((test) => test.failures).map((test) => this.#failure(test))
    const isCrash = status === null || (status !== 0 && failures.length === 0)
    return { passed: ran.length - failures.length, failures, broken: isCrash ? how : undefined }
  }

  #failure({ classname, name, failures }) {
    const test = `${classname}.${name}`
    return {
      name: `${this.name}: ${test}`,
      error: failures.map(({ failure }) => failure).join('\n'),
      // Those are threads against each other, with an oracle.
      isOracle: this.name.endsWith('_stress'),
      again: () => new GtestSuite(this.program, this.limit, test).run(),
    }
  }
}

module.exports = { GtestSuite }
