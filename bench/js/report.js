// Runs the JavaScript benches and prints Markdown tables.
//   node bench/js/report.js [--filter regex] [--repetitions 5] [--json file]
//   node bench/js/report.js --report [--repetitions 5] [name ...]
// --filter picks among "row kit", such as "^drain" or "^keyed-run (ours|async-lock)$".
// --report saves what it measures in docs/results/, and writes docs/performance/ anew: the results of these names (see
// results.js; "curves" are those of the charts), or all. So the numbers of one file have always been measured together.
// Every repetition of every cell is a fresh process, so that nothing learned or allocated by one
// reaches another; kits take turns, so that a machine that slows down slows all of them.
const { mkdirSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { judge } = require('./bars.js')
const { curveNames, measureCurves } = require('./curves.js')
const { saveResults, writeDocuments } = require('./document.js')
const { machine } = require('./machine.js')
const { installPeers, progress, runCell } = require('./run-cell.js')
const { allRows, results } = require('./results.js')
const { tableOfCells, tableOfVerdicts, valuesOf } = require('./tables.js')

const timeout = 300_000 // for one run: a lock that loses a wake-up must not block the report

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    filter: { type: 'string', default: '' },
    repetitions: { type: 'string', default: '5' },
    json: { type: 'string' },
    report: { type: 'boolean', default: false },
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
  const names = namesOf(positionals)
  installPeers()
  const cells = await measure(names, filter, repetitions)
  const curves = new Map()
  if (options.report)
    for (const name of curveNames)
      if (names.includes(name)) curves.set(name, await measureCurves(name))
  progress('')
  if (cells.length === 0 && curves.size === 0) throw new Error('No bench of that name.')
  const content = { machine: machine(), repetitions, cells, verdicts: verdictsOf(cells) }
  print(content)
  if (options.report) save(names, { ...content, curves })
  if (options.json) write(options.json, content)
}

function namesOf(positionals) {
  const known = [...Object.keys(results), ...curveNames]
  for (const name of positionals) {
    if (!known.includes(name)) throw new Error(`No results of name ${name}: ${known.join(', ')}.`)
  }
  if (!options.report && positionals.length > 0) throw new Error('Names go with --report.')
  if (options.report && options.filter) {
    throw new Error('--report saves whole results: name them, and leave --filter.')
  }
  return positionals.length > 0 ? positionals : known
}

async function measure(names, filter, repetitions) {
  let cells = cellsOf(names).filter(({ row, kit }) => filter.test(`${row} ${kit}`))
  for (let turn = 1; turn <= repetitions; ++turn) {
    for (const cell of cells) {
      progress(`${turn}/${repetitions} ${cell.row} ${cell.kit}`)
      await measureOnce(cell)
    }
    cells = cells.filter(({ runs }) => runs.length === turn)
  }
  return cells
}

/** The rows of all results of these names, each once. */
function cellsOf(names) {
  const cells = new Map()
  for (const { rows, kits } of names.flatMap((name) => results[name] ?? [])) {
    for (const row of Object.keys(rows)) {
      for (const kit of Object.keys(kits)) cells.set(`${row} ${kit}`, { row, kit, runs: [] })
    }
  }
  return [...cells.values()]
}

/** One more run, unless the kit cannot do the work. A failed run must not discard the others. */
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

function verdictsOf(cells) {
  return judge(allRows, (row, kit, field) => valuesOf(cells, row, kit, field))
}

function print({ machine: { node, cpu, cores, system }, cells, verdicts }) {
  console.log(`Node ${node}, ${cores} x ${cpu}, ${system}`)
  const tables = Object.values(results)
    .flat()
    .map((section) => tableOfCells(cells, section))
  for (const table of tables.filter(Boolean)) console.log(`\n${table.trimEnd()}`)
  if (cells.length > 0)
    console.log('\nk/s: thousand operations a second; of ms, us and B, less is better.')
  if (verdicts.length > 0) {
    console.log(`\n${tableOfVerdicts(verdicts, options.repetitions).trimEnd()}`)
  }
}

function save(names, { machine, repetitions, cells, curves }) {
  for (const name of names) {
    if (curves.has(name)) {
      saveResults(name, { machine, cells: curves.get(name) })
      continue
    }
    const its = cells.filter(({ row, kit }) =>
      results[name].some(({ rows, kits }) => rows[row] && kits[kit]),
    )
    // A server that is not here.
    if (its.length === 0) continue
    saveResults(name, { machine, repetitions, verdicts: verdictsOf(its), cells: its })
  }
  writeDocuments()
}

function write(file, content) {
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true })
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
}
