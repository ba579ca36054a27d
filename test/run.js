'use strict'
// npm test: the tests that every machine can run within minutes.
//   --js           all mocha tests, in full (npm run test:js)
//   --native       the C++ tests, which npm run test:native builds; --native FOLDER: those of another build
//   --all          both, and the scripts of runner/needs.js (npm run test:all)
//   FILE...        these mocha tests
// Other arguments are those of mocha. runner/tries.js has the rule for a test that fails. Tests that need a program
// which this machine lacks are skipped and named; with CI=true or BOXOFFICE_REQUIRE=all they fail.
const { existsSync } = require('node:fs')
const path = require('node:path')
const { MochaSuite } = require('./runner/mocha_suite.js')
const { GtestSuite } = require('./runner/gtest_suite.js')
const { full, lacks, long, quick, runsHere, scripts } = require('./runner/needs.js')
const { run } = require('./runner/process.js')
const { report, runSuites } = require('./runner/tries.js')

const root = path.join(__dirname, '..')
const mayLackNothing = Boolean(process.env.CI) || process.env.BOXOFFICE_REQUIRE === 'all'

// How many files of a group run at a time in full. test/diagnostics needs a process of its own; install, kill and site
// need more than the addon. Those of test/cluster wait for servers and for the ends of leases for most of their time.
const groups = {
  'test/cluster/*.test.js': 3,
  'test/!(cluster|diagnostics|install|kill|site)/*.test.js': 2,
  'test/diagnostics/*.test.js': 1,
}

function main([mode = '--quick', ...more]) {
  if (mode === '--native') return report(runSuites(nativeSuites(more[0])))
  if (!mode.startsWith('--')) return report(runSuites([new MochaSuite('mocha', [mode, ...more])]))
  const isQuick = mode === '--quick'
  const wanted = isQuick ? quick : [...quick, ...full, ...(mode === '--all' ? scripts : [])]
  const lines = lacks(wanted)
  if (mayLackNothing && lines.length > 0) {
    console.log(lines.join('\n'))
    return 1
  }
  const statuses = [report(runSuites(mochaSuites(isQuick, more)))]
  if (mode === '--all') statuses.push(...runScripts())
  if (isQuick)
    lines.push('Not run: the long tests, those of C++ and of most servers (npm run test:all)')
  console.log(lines.join('\n'))
  return Math.max(...statuses)
}

function mochaSuites(isQuick, more) {
  const left = [...quick, ...full].filter((row) =>
    isQuick ? full.includes(row) || !runsHere(row) : !runsHere(row),
  )
  const ignored = [...left.map(([tests]) => tests), ...(isQuick ? long : [])].flatMap((tests) => [
    '--ignore',
    tests,
  ])
  // Most tests wait for most of their time. In full, some measure times and memory: fewer at a time.
  const jobsOf = (group) => (isQuick ? 3 : groups[group])
  const howOf = (jobs) => (jobs === 1 ? [] : ['--parallel', '--jobs', `${jobs}`])
  const scale = process.env.BOXOFFICE_TEST_SCALE ?? (isQuick ? '0.02' : '1')
  const options = { env: { BOXOFFICE_TEST_SCALE: scale } }
  return Object.keys(groups).map(
    (group) =>
      new MochaSuite(group, [group, ...more, ...ignored, ...howOf(jobsOf(group))], options),
  )
}

function nativeSuites(folder = 'build/release') {
  const programs = ['boxoffice_tests', 'boxoffice_memory', 'boxoffice_stress']
    .map((name) => path.join(root, folder, 'test', 'native', name))
    .filter((program) => existsSync(program))
  if (programs.length === 0)
    throw new Error(`There are no C++ tests in ${folder}: build them first`)
  return programs.map((program) => new GtestSuite(program, 1200))
}

function runScripts() {
  return scripts
    .filter(runsHere)
    .map(([script]) => run(script, [], { shell: true, cwd: root }).status ?? 1)
}

process.exitCode = main(process.argv.slice(2))
