'use strict'
// Runs the native benches and prints Markdown tables.
//   node bench/native/report.js [--group suite] [--filter regex] [--repetitions 10]
//                               [--binary file] [--json file]
// Groups: suite (the article's five tests), micro, contention, lines; a comma between several.
// Every repetition of every cell is a fresh process, so that nothing learned or allocated by one
// reaches another; kits take turns, so that a machine that slows down slows all of them.
const { execFile } = require('node:child_process')
const { mkdirSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { parseArgs, promisify } = require('node:util')

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
  if (!(repetitions >= 1)) throw new Error('--repetitions must be a number of 1 or more.')
  for (let round = 1; round <= repetitions; ++round) {
    for (const cell of cells) {
      progress(`${round}/${repetitions} ${cell.name}`)
      cell.runs.push(await run(cell.name))
    }
  }
  progress('')
  for (const group of groupsOf(cells)) print(group, cells)
  mkdirSync(path.dirname(options.json), { recursive: true })
  writeFileSync(options.json, `${JSON.stringify(cells, null, 2)}\n`)
}

async function findCells() {
  const wanted = new RegExp(`^(?:${options.group.replaceAll(',', '|')})/.*(?:${options.filter})`)
  const names = (await bench('--benchmark_list_tests=true')).trim().split('\n')
  return names.filter((name) => wanted.test(name)).map(cellOf)
}

/** suite/rw_lock/ours/iterations:1/real_time is the cell of test rw_lock and kit ours. */
function cellOf(name) {
  const [group, what, kit, ...rest] = name.split('/')
  const variant = rest.filter((part) => !/^(iterations:\d+|real_time)$/.test(part))
  return { name, group, test: [what, ...variant].join(' '), kit, runs: [] }
}

async function run(name) {
  const exactly = `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`
  const output = await bench(`--benchmark_filter=${exactly}`, '--benchmark_format=json')
  const [result] = JSON.parse(output).benchmarks
  if (result.error_occurred) throw new Error(`${name}: ${result.error_message}`)
  return result
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

function print(group, cells) {
  const members = cells.filter((cell) => cell.group === group)
  if (group === 'contention') {
    printTable(`${group}: million turns a second`, members, ({ runs }) =>
      spread(runs.map((run) => run.items_per_second / 1e6)),
    )
    printTable(`${group}: longest wait, ms`, members, ({ runs }) =>
      spread(runs.map((run) => run.longest_wait_us / 1e3)),
    )
    printTable(
      `${group}: turns of the poorest thread over those of the richest`,
      members,
      ({ runs }) => spread(runs.map((run) => run.fewest_turns / run.most_turns)),
    )
  } else {
    const unit = members[0].runs[0].time_unit
    printTable(`${group}: ${unit}, median (min-max)`, members, ({ runs }) => spread(times(runs)))
    if (group === 'suite') printRatios(members)
  }
}

/** A row for each kit, a column for each test; or the other way round with a single kit. */
function printTable(title, cells, text) {
  const tests = unique(cells.map((cell) => cell.test))
  const kits = unique(cells.map((cell) => cell.kit))
  const at = (kit, test) => cells.find((cell) => cell.kit === kit && cell.test === test)
  const show = (cell) => (cell ? text(cell) : '')
  const rows =
    kits.length === 1
      ? [['', kits[0]], ...tests.map((test) => [test, show(at(kits[0], test))])]
      : [['', ...tests], ...kits.map((kit) => [kit, ...tests.map((test) => show(at(kit, test)))])]
  console.log(`\n### ${title}\n`)
  rows.splice(1, 0, ['---', ...rows[0].slice(1).map(() => '---:')])
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

/** How ours compares with the better of the article's two forms, and with the floor. */
function printRatios(cells) {
  console.log('\n| ours / | better of the article | work alone |\n| --- | ---: | ---: |')
  for (const test of unique(cells.map((cell) => cell.test))) {
    const medianOf = (kit) => {
      const cell = cells.find((one) => one.test === test && one.kit === kit)
      return cell ? median(times(cell.runs)) : Number.NaN
    }
    const article = Math.min(medianOf('article_spin'), medianOf('article_nospin'))
    const ratio = (to) => (Number.isNaN(to) ? '' : (medianOf('ours') / to).toFixed(2))
    console.log(`| ${test} | ${ratio(article)} | ${ratio(medianOf('apart'))} |`)
  }
}

function times(runs) {
  return runs.map((run) => run.real_time)
}

function spread(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return `${round(median(sorted))} (${round(sorted[0])}-${round(sorted.at(-1))})`
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2
}

function round(number) {
  return number >= 100 ? number.toFixed(0) : number.toPrecision(3)
}

function groupsOf(cells) {
  return unique(cells.map((cell) => cell.group))
}

function unique(values) {
  return [...new Set(values)]
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
