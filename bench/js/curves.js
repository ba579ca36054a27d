// Cost an operation as lines and maps grow, drawn into docs/. By itself:
//   node bench/js/curves.js [--filter regex] [--json file]
const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { drawChart } = require('./chart.js')
const { kits } = require('./kits.js')
const { median } = require('./numbers.js')
const { installPeers, progress, runCell } = require('./run-cell.js')

const docs = path.join(__dirname, '..', '..', 'docs')
const timeout = 20_000 // a kit that needs longer for one point has no further points
const repetitions = 3

const charts = [
  {
    row: 'by-line-length',
    sizes: [1, 10, 100, 1_000, 10_000, 100_000],
    file: 'cost-by-line-length.svg',
    title: 'Cost of a turn by length of the line',
    across: 'tasks that contend for one lock',
    up: 'nanoseconds a turn',
  },
  {
    row: 'by-keys',
    sizes: [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000],
    file: 'cost-by-keys.svg',
    title: 'Cost of an exclusive run by number of keys',
    across: 'keys, one after the other',
    up: 'nanoseconds a run',
  },
]

async function measureCurves(filter) {
  const curves = []
  for (const { row, sizes } of charts) {
    let lines = Object.keys(kits)
      .filter((kit) => filter.test(`${row} ${kit}`))
      .map((kit) => ({ row, kit, points: [] }))
    for (const size of sizes) {
      await measurePoints(lines, size)
      curves.push(...lines.filter(({ points }) => points.length === 1 && size === sizes[0]))
      lines = lines.filter(({ points }) => points.at(-1)?.size === size)
    }
  }
  return curves
}

/** One more point for each line whose kit is still quick enough; kits take turns. */
async function measurePoints(lines, size) {
  const values = new Map(lines.map((line) => [line, []]))
  for (let turn = 1; turn <= repetitions; ++turn) {
    for (const [line, got] of values) {
      progress(`curves ${turn}/${repetitions} ${line.row} ${line.kit} ${size}`)
      const result = await runCell(line.row, line.kit, { size, timeout })
      if (result) got.push(result.value)
      else values.delete(line)
    }
  }
  for (const [line, got] of values) line.points.push({ size, value: median(got) })
}

function drawCurves(curves) {
  for (const chart of charts) {
    const lines = curves
      .filter(({ row }) => row === chart.row)
      .map(({ kit, points }) => ({ name: kit, points: points.map((p) => [p.size, p.value]) }))
    if (lines.length === 0) continue
    const file = path.join(docs, chart.file)
    writeFileSync(file, drawChart({ ...chart, lines }))
    console.log(`\nDrawn: ${path.relative(process.cwd(), file)}`)
  }
}

async function main() {
  const { values: options } = parseArgs({
    options: { filter: { type: 'string', default: '' }, json: { type: 'string' } },
  })
  installPeers()
  const curves = await measureCurves(new RegExp(options.filter))
  progress('')
  drawCurves(curves)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(curves, null, 2)}\n`)
}

module.exports = { drawCurves, measureCurves }

if (require.main === module) {
  main().catch((error) => {
    progress('')
    console.error(error.message)
    process.exitCode = 1
  })
}
