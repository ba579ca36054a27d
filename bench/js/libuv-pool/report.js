// Reads of a small file while others wait for a lock: by boxoffice, and on libuv's pool.
//   node bench/js/libuv-pool/report.js [--rounds 5] [--reads 2000] [--limit 5000]
// --limit is how many milliseconds a process has before it is killed as deadlocked.
// Fails when anything but a full pool deadlocks, or that does not. See docs/waiting.md.
const { execFile, execFileSync } = require('node:child_process')
const path = require('node:path')
const { parseArgs, promisify } = require('node:util')
const { median, round, spread } = require('../numbers.js')

const root = path.join(__dirname, '../../..')

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    reads: { type: 'string', default: '2000' },
    limit: { type: 'string', default: '5000' },
  },
})

const cells = [
  { title: 'boxoffice', kit: 'boxoffice', threads: 1, waits: 0 },
  { title: 'boxoffice', kit: 'boxoffice', threads: 1, waits: 10_000 },
  { title: "on libuv's pool", kit: 'libuv', threads: 1, waits: 1, deadlocks: true },
  { title: 'boxoffice', kit: 'boxoffice', threads: 4, waits: 10_000 },
  { title: "on libuv's pool", kit: 'libuv', threads: 4, waits: 3 },
  { title: "on libuv's pool", kit: 'libuv', threads: 4, waits: 4, deadlocks: true },
]

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})

async function main() {
  build()
  for (const cell of cells) cell.runs = []
  // Cells take turns, so that a machine that slows down slows all of them.
  for (let turn = 0; turn < Number(options.rounds); turn++) {
    for (const cell of cells) {
      if (hasDeadlock(cell.runs)) continue // once is enough
      cell.runs.push(await run(cell))
    }
  }
  const heads = [
    'wait by',
    'threads',
    'waits',
    'reads',
    'before',
    'while',
    'ratio',
    'p99',
    'p99 while',
    'end',
  ]
  console.log(`| ${heads.join(' | ')} |`)
  console.log(`| --- |${' ---: |'.repeat(heads.length - 2)} --- |`)
  for (const cell of cells) console.log(`| ${describe(cell).join(' | ')} |`)
  console.log('\nms of a read before others wait and while they do, the median of all rounds;')
  console.log('ratio: of the medians of each process. threads: UV_THREADPOOL_SIZE.')
  const surprises = cells.filter(({ runs, deadlocks = false }) => deadlocks !== hasDeadlock(runs))
  if (surprises.length > 0) throw new Error('Not what was to be shown; or the machine is too busy.')
}

function hasDeadlock(runs) {
  return runs.some(({ deadlock }) => deadlock === true)
}

function build() {
  const buildDir = path.join(root, 'build', 'libuv-pool')
  const options = { stdio: ['ignore', 2, 2] } // standard output is for the table
  const dirs = [
    `-DNODE_ADDON_API_DIR=${path.dirname(require.resolve('node-addon-api'))}`,
    `-DNODE_API_HEADERS_DIR=${require('node-api-headers').include_dir}`,
  ]
  const configure = ['-S', __dirname, '-B', buildDir, '-DCMAKE_BUILD_TYPE=Release', ...dirs]
  execFileSync('cmake', configure, options)
  execFileSync('cmake', ['--build', buildDir, '--target', 'libuv_waits'], options)
}

async function run({ kit, waits, threads }) {
  const args = [path.join(__dirname, 'child.js'), kit, `${waits}`, options.reads]
  const env = { ...process.env, UV_THREADPOOL_SIZE: `${threads}` }
  const limits = { timeout: Number(options.limit), killSignal: 'SIGKILL' }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, ...limits })
    return summary(stdout)
  } catch (error) {
    if (error.killed) return { ...summary(error.stdout), deadlock: true }
    throw error
  }
}

function summary(stdout) {
  const lines = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const of = (name) => lines.flatMap((line) => line[name] ?? [])
  return { before: of('before'), during: of('during'), granted: of('granted')[0] ?? 0 }
}

function describe({ title, threads, waits, runs }) {
  const row = [title, threads, waits.toLocaleString('en-US')]
  const deadlock = runs.find((one) => one.deadlock)
  if (deadlock) {
    const end = `deadlock: ${deadlock.granted} granted, killed after ${options.limit / 1000} s`
    return [...row, deadlock.during.length, '', '', '', '', '', end]
  }
  const before = runs.flatMap((one) => one.before)
  const during = runs.flatMap((one) => one.during)
  return [
    ...row,
    during.length.toLocaleString('en-US'),
    round(median(before)),
    round(median(during)),
    spread(runs.map((one) => median(one.during) / median(one.before))),
    round(p99(before)),
    round(p99(during)),
    `${Math.min(...runs.map(({ granted }) => granted)).toLocaleString('en-US')} granted`,
  ]
}

function p99(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.ceil(numbers.length * 0.99) - 1]
}
