'use strict'
// The steps of .ci/full, or those named: those that measure time one by one, and then the others, two at a time.
const { mkdirSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { chosen, inScratch, runSteps, summarize } = require('./steps.js')

const node = (version) => `"$SCRATCH/node-${version}/package/bin/node"`
// Not the tests that start a process for each case of keep-alive or of memory use: there a sanitizer measures itself.
// Not the one without file descriptors, because a sanitizer needs some, nor the one of a full disk, whose shell
// crashes with it, nor the one of lacks, which preloads a library itself, nor Node's own locks, nor the end of the stack.
// Locks of one thread, engines and documents are JavaScript.
// mocha takes a pattern with braces alone for the name of a file: bash expands these.
const native = [
  "'test/{process,host,weblocks}/*.test.js'",
  'test/thread/{barrier,close,condition_variable,countdown_latch,dining_philosophers,events,events_model}.test.js',
  'test/thread/{gates_model,grant,if_available,mutex,mutex_input}.test.js',
  'test/package/{copies,receivers}.test.js',
  "--ignore 'test/process/*keep_alive.test.js' --ignore '**/stack_end.test.js'",
  "--ignore 'test/host/{descriptors,full_disk,lacks}.test.js' --ignore test/weblocks/lock_manager_faults.test.js",
  '--timeout 120000',
].join(' ')
const watching = 'test/diagnostics/{deadlocks_threads,host,process}.test.js --timeout 120000'
/** Node's own accesses are visible, too: memory that Node frees while a thread of this library still writes to it. */
const shared =
  'test/process/{threads,names,blocking,shared_grants,shared_semaphore,worker_death}.test.js --timeout 120000'

const prepare = [
  { name: 'Debian packages', run: '.ci/packages full', limit: 600 },
  { name: 'Valkey', run: '.ci/valkey "$SCRATCH/valkey"', limit: 300 },
  { name: 'npm ci', run: 'npm ci --ignore-scripts --no-audit --no-fund', limit: 300 },
  { name: 'addon', run: 'npm run build -- addon -DBOXOFFICE_WERROR=ON', limit: 300 },
  { name: 'Node.js 22, 24 and 26', run: '.ci/nodes "$SCRATCH"', limit: 300 },
]

const quiet = [
  {
    // The gate has run most of it on Node.js 20.
    name: 'mocha in full, on Node.js 24',
    run: `BOXOFFICE_TEST_SCALE=0.25 ${node(24)} test/run.js --js`,
    limit: 2700,
    least: 3200,
  },
  {
    name: 'mocha on Node.js 22, with coverage',
    run: `npx c8 --reporter text-summary ${node(22)} test/run.js`,
    limit: 1200,
    least: 2900,
  },
  { name: 'mocha on Node.js 26', run: `${node(26)} test/run.js`, limit: 900, least: 2900 },
  {
    name: 'memory, deaths and contexts on Node.js 26',
    run: `BOXOFFICE_TEST_SCALE=0.02 ${node(26)} test/run.js test/{process,host}/stack_end.test.js test/process/{deaths,vm_contexts}.test.js test/{thread,diagnostics}/memory.test.js`,
    limit: 600,
    least: 50,
  },
  { name: 'gate of speed', run: 'npm run bench:gate', limit: 600 },
  { name: 'kill points', run: 'BOXOFFICE_TEST_SCALE=0.5 npm run test:kill', limit: 900, least: 30 },
]

const beside = [
  {
    name: 'binaries',
    run: 'npm run binaries -- linux-x64 linux-x64-musl linux-arm64 win32-x64 darwin-arm64 -Werror',
    limit: 1200,
  },
  { name: 'bare machine', run: '.ci/bare "$SCRATCH/machine"', limit: 1800, least: 2800 },
  {
    name: 'PostgreSQL 17 and 18',
    run: `.ci/postgres "$SCRATCH"
      for version in 17 18; do
        programs="$SCRATCH/postgres-$version/package/native/bin"
        BOXOFFICE_POSTGRES="$programs" node test/run.js 'test/cluster/postgres*.test.js'
      done`,
    limit: 1200,
    least: 250,
  },
  { name: 'relacy', run: '.ci/relacy', limit: 1200, least: 10 },
  { name: 'models', run: 'test/model/run.sh', limit: 3600, least: 250 },
  { name: 'C++ tests under ThreadSanitizer', run: '.ci/sanitized tsan', limit: 1800, least: 640 },
  { name: 'C++ tests under AddressSanitizer', run: '.ci/sanitized asan', limit: 1800, least: 640 },
  {
    name: 'mocha under ThreadSanitizer',
    after: 'C++ tests under ThreadSanitizer',
    run: `.ci/preload tsan ${native} && .ci/preload tsan ${watching}`,
    limit: 1800,
    least: 700,
  },
  {
    name: 'mocha under AddressSanitizer',
    after: 'C++ tests under AddressSanitizer',
    run: `.ci/preload asan ${native} && .ci/preload asan ${watching}`,
    limit: 1800,
    least: 700,
  },
  {
    name: "ThreadSanitizer, with Node's own accesses",
    after: 'C++ tests under ThreadSanitizer',
    run: `.ci/preload tsan_node ${shared}`,
    limit: 900,
    least: 50,
  },
  { name: 'scope host as on macOS', run: '.ci/portable', limit: 1800, least: 500 },
  {
    name: 'musl',
    after: 'binaries',
    run: '.ci/musl "$SCRATCH/musl"',
    limit: 1200,
    least: 400,
  },
  {
    name: 'arm64, in qemu',
    after: 'binaries',
    run: '.ci/arm64 "$SCRATCH/arm64"',
    limit: 1200,
    least: 200,
  },
  {
    name: 'scope host on Windows, under Wine',
    after: 'binaries',
    run: '.ci/wine "$SCRATCH/windows"',
    limit: 1800,
    least: 380,
  },
  {
    name: 'installed elsewhere',
    after: 'binaries',
    run: 'npm run test:install',
    limit: 1200,
    least: 40,
  },
  {
    name: 'package for CMake',
    // The gate runs the C++ tests themselves.
    run: `cmake -S . -B build/package -DCMAKE_BUILD_TYPE=Release -DBOXOFFICE_TESTS=ON
      cmake --build build/package --target boxoffice --parallel 2
      ctest --test-dir build/package -R ^cmake_`,
    limit: 900,
    least: 2,
  },
  { name: 'benchmarks run', run: '.ci/benches', limit: 900 },
  { name: 'site', run: 'npm run test:site', limit: 600, least: 4 },
  { name: 'ticket shop', run: 'npm run test:shop', limit: 600, least: 1 },
]

async function main(only) {
  await inScratch('full', async (folder) => {
    const environment = {
      CI: 'true',
      CMAKE_BUILD_PARALLEL_LEVEL: '2',
      SCRATCH: folder,
      BOXOFFICE_VALKEY: path.join(folder, 'valkey/usr/bin/valkey-server'),
    }
    const results = await runSteps(prepare, { folder, environment, stops: true })
    if (results.every(({ why }) => !why)) {
      results.push(...(await runSteps(chosen(quiet, only), { folder, environment })))
      results.push(...(await runSteps(chosen(beside, only), { folder, environment, beside: 2 })))
    }
    writeTable(results)
    process.exitCode = summarize(results)
  })
}

function writeTable(results) {
  const rows = results.map(({ name, seconds, tests, failed, unsteady, why }) => [
    name,
    seconds,
    tests,
    failed,
    unsteady.length,
    why ?? 'ok',
  ])
  const head = ['step', 'seconds', 'tests run', 'failed', 'tried twice', 'result']
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  mkdirSync('build', { recursive: true })
  writeFileSync('build/full.md', `${lines.join('\n')}\n`)
  console.log(lines.join('\n'))
}

main(process.argv.slice(2))
