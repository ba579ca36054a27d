'use strict'
// npm test: the tests that every machine can run within minutes. --js (npm run test:js) runs all mocha tests, in full.
// More arguments are those of mocha.
// --all (npm run test:all) also runs the C++ tests, the ticket shop's tests and the benchmarks' gate. Tests that need a
// program which this machine lacks are skipped, and the last lines list them; with CI=true or BOXOFFICE_REQUIRE=all they
// fail.
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const programs = require('./helpers/programs.js')

const root = path.join(__dirname, '..')
const [mode = '--quick', ...more] = process.argv.slice(2)
const isQuick = mode === '--quick'
const mayLackNothing = Boolean(process.env.CI) || process.env.BOXOFFICE_REQUIRE === 'all'

// test/diagnostics needs a process of its own; install, kill and site need more than the addon.
const groups = ['test/!(diagnostics|install|kill|site)/*.test.js', 'test/diagnostics/*.test.js']

/** Tests that need programs: mocha files, or scripts of package.json, which only --all runs. */
const needing = [
  ['test/cluster/redis{,_cluster,_faults,_glide,_sentinel,_subscriber}.test.js', 'redis-server'],
  ['test/cluster/redis_access.test.js', 'redis-server', 'openssl'],
  ['test/cluster/redis_valkey.test.js', 'valkey-server'],
  ['test/cluster/postgres{,_access,_contract,_faults,_steps,_transaction}.test.js', 'PostgreSQL'],
  ['test/cluster/etcd{,_cluster,_contract,_faults,_many}.test.js', 'etcd'],
  ['test/cluster/etcd_access.test.js', 'etcd', 'openssl'],
  ['test/cluster/postgres_connections.test.js', 'PostgreSQL', 'pgbouncer'],
  [
    'test/cluster/{engines_contexts,engines_jobs,leader_election}.test.js',
    'redis-server',
    'PostgreSQL',
    'etcd',
  ],
  ['test/cluster/versions.test.js', 'redis-server', 'PostgreSQL', 'etcd'],
  ['test/cluster/operations.test.js', 'redis-server', 'PostgreSQL', 'etcd', 'etcdctl'],
  ['test/package/{documentation,examples}_servers.test.js', 'redis-server', 'PostgreSQL', 'etcd'],
  ['test/cluster/guarantees_redis.test.js', 'redis-server', 'a clock that tests can set'],
  ['test/cluster/guarantees_postgres.test.js', 'PostgreSQL', 'a clock that tests can set'],
  ['test/cluster/guarantees_etcd.test.js', 'etcd', 'a clock that tests can set'],
  [
    'test/cluster/guarantees_network.test.js',
    'redis-server',
    'PostgreSQL',
    'etcd',
    'network namespaces',
  ],
  ['npm run test:native', 'cmake', 'a C++20 compiler', 'GoogleTest'],
  ['npm run test:kill', 'cmake', 'a C++20 compiler'],
  ['npm run bench:gate'],
  ['npm run test:shop', 'chromium', 'redis-server', 'PostgreSQL'],
  ['npm run binaries -- linux-x64 && npm run test:install', 'zopfli'],
  ['npm run test:site'],
]

/** Slow tests, half a minute or more each: memory use, the end of the stack, deaths, servers. */
const long = [
  'test/{process,host}/stack_end.test.js',
  'test/{thread,diagnostics}/memory.test.js',
  'test/process/{deaths,vm_contexts}.test.js',
  'test/cluster/redis{,_access,_cluster,_faults,_sentinel}.test.js',
  'test/cluster/postgres{,_connections,_faults}.test.js',
  'test/cluster/etcd{_cluster,_faults}.test.js',
  'test/cluster/{engines_absent,engines_contexts,leader_election}.test.js',
  'test/cluster/guarantees_*.test.js',
  'test/package/{documentation,examples}_servers.test.js',
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
  const without = ignored.filter((tests) => !isScript(tests))
  const args = [...more, ...without.flatMap((tests) => ['--ignore', tests])]
  // Most tests wait for most of their time. In full, some measure times and memory: one after the other.
  if (isQuick) args.push('--parallel', '--jobs', '3')
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
    lines.push(
      'The long tests, the C++ tests, those of the ticket shop and the gate of speed: npm run test:all',
    )
  if (lines.length > 0) console.log(['Not run here:', ...lines].join('\n  '))
}

process.exitCode = main()
