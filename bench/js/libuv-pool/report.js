// Reads of a small file while other callers wait for a lock: with boxoffice, and on libuv's pool.
//   node bench/js/libuv-pool/report.js [--rounds 5] [--reads 2000] [--limit 5000] [--report]
// --limit is how many milliseconds a process has before it is killed as deadlocked.
// --report saves the results in docs/results/ and writes docs/waiting.md anew.
// Fails if anything but a full pool deadlocks, or if a full pool does not. See docs/waiting.md.
const { execFile, execFileSync } = require('node:child_process')
const path = require('node:path')
const { parseArgs, promisify } = require('node:util')
const { saveResults, writeDocuments } = require('../document.js')
const { machine } = require('../machine.js')
const { median, quantile } = require('../numbers.js')
const { tableOfReads } = require('./table.js')

const root = path.join(__dirname, '../../..')

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    reads: { type: 'string', default: '2000' },
    limit: { type: 'string', default: '5000' },
    report: { type: 'boolean', default: false },
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
  const found = cells.map(describe)
  console.log(tableOfReads(found))
  console.log('ms of a read before others wait and while they do, the median of all rounds;')
  console.log('ratio: of the medians of each process. threads: UV_THREADPOOL_SIZE.')
  const surprises = cells.filter(({ runs, deadlocks = false }) => deadlocks !== hasDeadlock(runs))
  if (surprises.length > 0) throw new Error('Not what was to be shown; or the machine is too busy.')
  if (!options.report) return
  saveResults('libuv-pool', {
    machine: machine(),
    repetitions: Number(options.rounds),
    cells: found,
  })
  writeDocuments()
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
  const deadlock = runs.find((one) => one.deadlock)
  if (deadlock) {
    const end = `deadlock, ${deadlock.granted} granted`
    return { title, threads, waits, reads: deadlock.during.length, end }
  }
  const before = runs.flatMap((one) => one.before)
  const during = runs.flatMap((one) => one.during)
  const ratios = runs.map((one) => median(one.during) / median(one.before))
  const granted = Math.min(...runs.map((one) => one.granted))
  return {
    title,
    threads,
    waits,
    reads: during.length,
    before: median(before),
    during: median(during),
    ratio: [median(ratios), Math.min(...ratios), Math.max(...ratios)],
    p99: [before, during].map((times) => quantile(times, 0.99)),
    end: waits === 0 ? '' : `${granted.toLocaleString('en-US')} granted`,
  }
}
