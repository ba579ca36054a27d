'use strict'
// Runs the native benches and prints Markdown tables.
//   node bench/native/report.js [--group suite] [--filter regex] [--repetitions 10]
//                               [--binary file] [--json file] [--report]
// --report saves what it measures of whole groups in docs/results/, and writes docs/performance/ anew.
// Groups: suite (the article's five tests), micro, contention, queues; a comma between several.
// Every repetition of every cell is a fresh process, so that nothing learned or allocated by one
// reaches another; kits take turns, so that a machine that slows down slows all of them.
const { execFile } = require('node:child_process')
const { mkdirSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { parseArgs, promisify } = require('node:util')
const { saveResults, writeDocuments } = require('../js/document.js')
const { machine } = require('../js/machine.js')
const { nativeTables, numbersOf } = require('./tables.js')

const root = path.join(__dirname, '..', '..')
const timeout = 300_000 // for one run: a lock that loses a wake-up must not stop the report

const { values: options } = parseArgs({
  options: {
    group: { type: 'string', default: 'suite' },
    filter: { type: 'string', default: '' },
    repetitions: { type: 'string', default: '10' },
    binary: {
      type: 'string',
      default: path.join(root, 'build/release/bench/native/boxoffice_bench'),
    },
    json: { type: 'string', default: path.join(root, 'build/bench-native.json') },
    report: { type: 'boolean', default: false },
  },
})

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})

async function main() {
  const cells = await findCells()
  const repetitions = Number(options.repetitions)
  if (cells.length === 0) throw new Error('No bench of that name.')
  if (options.report && options.filter)
    throw new Error('--report saves whole groups: leave --filter.')
  if (!(repetitions >= 1)) throw new Error('--repetitions must be a number of 1 or more.')
  for (let round = 1; round <= repetitions; ++round) {
    for (const cell of cells) {
      progress(`${round}/${repetitions} ${cell.name}`)
      cell.runs.push(await run(cell.name))
    }
  }
  progress('')
  console.log(nativeTables(cells).filter(Boolean).join('\n'))
  if (options.report) save(cells, repetitions)
  mkdirSync(path.dirname(options.json), { recursive: true })
  writeFileSync(options.json, `${JSON.stringify(cells, null, 2)}\n`)
}

async function findCells() {
  const wanted = new RegExp(`^(?:${options.group.replaceAll(',', '|')})/.*(?:${options.filter})`)
  const names = (await bench('--benchmark_list_tests=true')).trim().split('\n')
  return names.filter((name) => wanted.test(name)).map(cellOf)
}

/** A file for each group. */
function save(cells, repetitions) {
  for (const group of new Set(cells.map((cell) => cell.group))) {
    const its = cells.filter((cell) => cell.group === group).map(({ name, ...cell }) => cell)
    const { node, ...where } = machine()
    saveResults(`native-${group}`, { machine: where, repetitions, cells: its })
  }
  writeDocuments()
}

/** suite/rw_lock/ours/iterations:1/real_time is the cell of test rw_lock and kit ours. */
function cellOf(name) {
  const [group, what, kit, ...rest] = name.split('/')
  const variant = rest.filter((part) => !/^(iterations:\d+|real_time)$/.test(part))
  return { name, group, test: what, variant: variant.join(' '), kit, runs: [] }
}

async function run(name) {
  const exactly = `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`
  const output = await bench(`--benchmark_filter=${exactly}`, '--benchmark_format=json')
  const [result] = JSON.parse(output).benchmarks
  if (result.error_occurred) throw new Error(`${name}: ${result.error_message}`)
  return numbersOf(result)
}

async function bench(...args) {
  try {
    const { stdout } = await promisify(execFile)(options.binary, args, { timeout })
    return stdout
  } catch (error) {
    if (error.code === 'ENOENT') {
      throw new Error(`There is no ${options.binary}; build it with: node binding/build.js bench`)
    }
    const end = error.killed ? `did not end within ${timeout / 1000} s` : `failed: ${error.message}`
    throw new Error(`${args.join(' ')} ${end}`)
  }
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
