// Runs the JavaScript benches and prints Markdown tables.
//   node bench/js/report.js [--filter regex] [--repetitions 5] [--json file] [--curves]
// --filter picks among "row kit", such as "^drain" or "^keyed-run (ours|async-lock)$".
// --curves measures and draws the curves of docs/ as well, --filter applying to them, too.
// Every repetition of every cell is a fresh process, so that nothing learned or allocated by one
// reaches another; kits take turns, so that a machine that slows down slows all of them.
const { mkdirSync, writeFileSync } = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { judge } = require('./bars.js')
const { clusterKits } = require('./cluster-kits.js')
const { clusterRows } = require('./cluster-rows.js')
const { drawCurves, measureCurves } = require('./curves.js')
const { hostKits } = require('./host-kits.js')
const { hostRows } = require('./host-rows.js')
const { kits } = require('./kits.js')
const { lockKits } = require('./lock-kits.js')
const { lockRows } = require('./lock-rows.js')
const { round, spread } = require('./numbers.js')
const { rows } = require('./rows.js')
const { installPeers, progress, runCell } = require('./run-cell.js')
const { threadKits } = require('./thread-kits.js')
const { threadRows } = require('./thread-rows.js')

const timeout = 300_000 // for one run: a lock that loses a wake-up must not stop the report

const sections = [
  { rows, kits },
  { rows: threadRows, kits: threadKits },
  { rows: lockRows, kits: lockKits },
  { rows: hostRows, kits: hostKits },
  { rows: clusterRows, kits: clusterKits },
]

const { values: options } = parseArgs({
  options: {
    filter: { type: 'string', default: '' },
    repetitions: { type: 'string', default: '5' },
    json: { type: 'string' },
    curves: { type: 'boolean', default: false },
  },
})

main().catch((error) => {
  progress('')
  console.error(error.message)
  process.exitCode = 1
})

async function main() {
  const repetitions = Number(options.repetitions)
  if (!(repetitions >= 1)) throw new Error('--repetitions must be a number of 1 or more.')
  const filter = new RegExp(options.filter)
  installPeers()
  const cells = await measure(filter, repetitions)
  const curves = options.curves ? await measureCurves(filter) : undefined
  progress('')
  if (cells.length === 0 && !curves?.length) throw new Error('No bench of that name.')
  printMachine()
  for (const section of sections) printCells(cells, section)
  if (cells.length > 0)
    console.log('\nk/s: thousand operations a second; of ms, us and B, less is better.')
  const all = Object.assign({}, ...sections.map((section) => section.rows))
  const verdicts = judge(all, (row, kit, field) => valuesOf(cells, row, kit, field))
  printVerdicts(verdicts)
  if (curves) drawCurves(curves)
  if (options.json) write(options.json, { machine: machine(), cells, verdicts, curves })
}

async function measure(filter, repetitions) {
  let cells = sections
    .flatMap((section) => cellsOf(section))
    .filter(({ row, kit }) => filter.test(`${row} ${kit}`))
  for (let turn = 1; turn <= repetitions; ++turn) {
    for (const cell of cells) {
      progress(`${turn}/${repetitions} ${cell.row} ${cell.kit}`)
      await measureOnce(cell)
    }
    cells = cells.filter(({ runs }) => runs.length === turn)
  }
  return cells
}

function cellsOf({ rows, kits }) {
  return Object.keys(rows).flatMap((row) =>
    Object.keys(kits).map((kit) => ({ row, kit, runs: [] })),
  )
}

/** One more run, unless the kit cannot do the work; one that fails must not cost all the others. */
async function measureOnce({ row, kit, runs }) {
  try {
    const result = await runCell(row, kit, { timeout })
    if (result === undefined) throw new Error(`${row} by ${kit} did not end.`)
    if (result !== null) runs.push(result)
  } catch (error) {
    progress('')
    console.error(error.message)
    process.exitCode = 1
  }
}

function valuesOf(cells, row, kit, field) {
  const cell = cells.find((one) => one.row === row && one.kit === kit)
  // A server may not tell everything.
  const values = cell ? cell.runs.map((run) => run[field]) : []
  return values.filter((value) => value !== undefined)
}

/** A row for each number of a work, a column for each kit. */
function printCells(all, { rows, kits }) {
  const cells = all.filter(({ row }) => rows[row])
  if (cells.length === 0) return
  const names = Object.keys(kits).filter((kit) => cells.some((cell) => cell.kit === kit))
  printTable([
    ['median (min-max)', '', ...names],
    ...Object.entries(rows)
      .filter(([row]) => cells.some((cell) => cell.row === row))
      .flatMap(([row, { lines, title, unit }]) =>
        (lines ?? [{ field: 'value', title, unit }]).map((line) => [
          line.title,
          line.unit,
          ...names.map((kit) => {
            const values = valuesOf(cells, row, kit, line.field)
            return values.length > 0 ? spread(values) : ''
          }),
        ]),
      ),
  ])
}

function printVerdicts(verdicts) {
  if (verdicts.length === 0) return
  printTable([
    ['ours against the bars', 'bar', 'got', '', 'rounds that meet it'],
    ...verdicts.map(({ title, bar, got, met, rounds }) => [
      title,
      bar,
      round(got),
      met ? 'met' : 'missed',
      `${rounds} of ${options.repetitions}`,
    ]),
  ])
}

function printTable([head, ...body]) {
  const rule = head.map((_, i) => (i === 0 ? '---' : '---:'))
  console.log()
  for (const row of [head, rule, ...body]) console.log(`| ${row.join(' | ')} |`)
}

function printMachine() {
  const { node, cpu, cores, system } = machine()
  console.log(`Node ${node}, ${cores} x ${cpu}, ${system}`)
}

function machine() {
  const [{ model }] = os.cpus()
  return {
    node: process.version,
    cpu: model,
    cores: os.availableParallelism(),
    system: `${os.type()} ${os.machine()}`,
  }
}

function write(file, content) {
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true })
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
}
