'use strict'
// npm test: the tests that any machine runs within minutes. With --js, npm run test:js: all that are for mocha, in full.
// With --all, npm run test:all: the C++ tests and those of the ticket shop, too. What needs a program that this machine
// lacks does not run, as the last lines then say; with CI=true or BOXOFFICE_REQUIRE=all that is a failure.
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const programs = require('./helpers/programs.js')

const root = path.join(__dirname, '..')
const [mode = '--quick'] = process.argv.slice(2)
const isQuick = mode === '--quick'
const mayLackNothing = Boolean(process.env.CI) || process.env.BOXOFFICE_REQUIRE === 'all'

// Those of test/diagnostics are for a process of their own; those of install and kill need more than the addon.
const groups = ['test/!(diagnostics|install|kill)/*.test.js', 'test/diagnostics/*.test.js']

/** What needs programs: files of mocha's, or scripts of package.json, which only --all runs. */
const needing = [
  ['test/cluster/redis{,_cluster,_faults,_sentinel,_subscriber}.test.js', 'redis-server'],
  ['test/cluster/redis_access.test.js', 'redis-server', 'openssl'],
  ['test/cluster/redis_valkey.test.js', 'valkey-server'],
  ['test/cluster/postgres{,_access,_contract,_faults,_steps,_transaction}.test.js', 'PostgreSQL'],
  ['test/cluster/postgres_connections.test.js', 'PostgreSQL', 'pgbouncer'],
  [
    'test/cluster/{engines_contexts,engines_jobs,leader_election}.test.js',
    'redis-server',
    'PostgreSQL',
  ],
  ['test/package/documentation_servers.test.js', 'redis-server', 'PostgreSQL'],
  ['npm run test:native', 'cmake', 'a C++20 compiler', 'GoogleTest'],
  ['npm run test:kill', 'cmake', 'a C++20 compiler'],
  ['npm run test:shop', 'chromium', 'redis-server', 'PostgreSQL'],
  ['npm run binaries -- linux-x64 && npm run test:install'],
]

/** Half a minute and more for each: of how much memory stays, of the end of the stack, of deaths and of servers. */
const long = [
  'test/{process,host}/stack_end.test.js',
  'test/{thread,diagnostics}/memory.test.js',
  'test/process/{deaths,vm_contexts}.test.js',
  'test/cluster/redis{,_access,_cluster,_faults,_sentinel}.test.js',
  'test/cluster/postgres{,_connections,_faults}.test.js',
  'test/cluster/{engines_absent,engines_contexts,leader_election}.test.js',
  'test/package/documentation_servers.test.js',
]

const isScript = (tests) => tests.startsWith('npm run ')
const lacking = needing
  .map(([tests, ...names]) => ({ tests, names: names.filter((name) => !programs[name].find()) }))
  .filter(({ names }) => names.length > 0)

function main() {
  if (mayLackNothing && lacking.length > 0) {
    sayWhatDidNotRun()
    return 1
  }
  const left = lacking.map(({ tests }) => tests)
  const statuses = groups.map((group) => mocha(group, isQuick ? [...left, ...long] : left))
  if (mode === '--all') {
    const scripts = needing.map(([tests]) => tests).filter(isScript)
    for (const script of scripts) if (!left.includes(script)) statuses.push(runScript(script))
  }
  sayWhatDidNotRun()
  return Math.max(...statuses)
}

function mocha(group, ignored) {
  const args = ignored.filter((tests) => !isScript(tests)).flatMap((tests) => ['--ignore', tests])
  const env = { ...process.env }
  if (isQuick) env.BOXOFFICE_TEST_SCALE ??= '0.02'
  return run(process.execPath, [require.resolve('mocha/bin/mocha.js'), group, ...args], { env })
}

function runScript(script) {
  return run(script, [], { shell: true })
}

function run(program, args, options) {
  const { status, error } = spawnSync(program, args, { ...options, cwd: root, stdio: 'inherit' })
  if (error) throw error
  return status ?? 1
}

function sayWhatDidNotRun() {
  const lines = lacking.map(({ tests, names }) => {
    const packages = names.map((name) => `${name} (Debian: ${programs[name].debian})`)
    return `${tests}: needs ${packages.join(', ')}`
  })
  if (isQuick)
    lines.push('The long tests, the C++ tests and those of the ticket shop: npm run test:all')
  if (lines.length > 0) console.log(['Not run here:', ...lines].join('\n  '))
}

process.exitCode = main()
