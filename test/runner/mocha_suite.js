'use strict'
// Tests of mocha, in one process that runs files of a group, or in one that runs a single test.
const path = require('node:path')
const { inScratch, readReport, run } = require('./process.js')

const root = path.join(__dirname, '..', '..')
const reporter = require.resolve('./reporter.js')
const watched = require.resolve('./watched.js')
const mocha = require.resolve('mocha/bin/mocha.js')

/** Files whose tests compare with a model or have an oracle: there is no time in them. */
const oracles = /(^|_)(model|stress|history|chaos|steps|deaths|terminations)\.test\.js$/

class MochaSuite {
  /** `args` of mocha: file patterns, --ignore and the like; `limit`: the seconds after which it hangs. */
  constructor(name, args, { env = {}, limit = 3600 } = {}) {
    this.name = name
    this.args = args
    this.options = { env, limit }
  }

  run() {
    return inScratch((folder) => {
      const file = path.join(folder, 'report.json')
      const { limit } = this.options
      const command = [process.execPath, mocha, '--reporter', reporter, ...this.args]
      const env = { ...process.env, ...this.options.env, BOXOFFICE_REPORT: file }
      // Of a sanitizer, for mocha and its threads.
      if (env.BOXOFFICE_PRELOAD) env.LD_PRELOAD = env.BOXOFFICE_PRELOAD
      const { status, how } = run(process.execPath, [watched, limit, ...command], {
        cwd: root,
        env,
      })
      return this.#read(readReport(file), status, how)
    })
  }

  #read(report, status, how) {
    if (!report) return { passed: 0, failures: [], broken: `mocha wrote no report: ${how}` }
    const failures = report.failures.map((failure) => this.#failure(failure))
    // mocha's exit status is the number of failures.
    const isCrash = status === null || (status !== 0 && failures.length === 0)
    return { passed: report.passes, failures, broken: isCrash ? how : undefined }
  }

  /** A failed hook is tried again with all tests of its file. */
  #failure({ file, title, isTest, error }) {
    const where = file === undefined ? this.name : path.relative(root, file)
    const only = isTest ? ['--grep', `^${escapeRegExp(title)}$`] : []
    return {
      name: `${where}: ${title}`,
      error,
      isOracle: oracles.test(path.basename(where)),
      again: () => new MochaSuite(where, [where, ...only], this.options).run(),
    }
  }
}

const escapeRegExp = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

module.exports = { MochaSuite }
