// The cost of an operation as queues and maps grow, and the charts of it in docs/.
const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { drawChart } = require('./chart.js')
const { kits } = require('./kits.js')
const { median } = require('./numbers.js')
const { progress, runCell } = require('./run-cell.js')

const docs = path.join(__dirname, '..', '..', 'docs')
const timeout = 20_000 // a kit that needs longer for one point gets no further points
const repetitions = 3

const charts = [
  {
    row: 'by-line-length',
    sizes: [1, 10, 100, 1_000, 10_000, 100_000],
    file: 'cost-by-queue-length.svg',
    title: 'Time per acquisition, by queue length',
    across: 'tasks that contend for one lock (logarithmic)',
    up: 'nanoseconds per acquisition (logarithmic)',
  },
  {
    row: 'by-keys',
    sizes: [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000],
    file: 'cost-by-keys.svg',
    title: 'Time per exclusive run, by number of keys',
    across: 'keys, taken one after the other (logarithmic)',
    up: 'nanoseconds per run (logarithmic)',
  },
]

async function measureCurves() {
  const curves = []
  for (const { row, sizes } of charts) {
    let lines = Object.keys(kits).map((kit) => ({ row, kit, points: [] }))
    for (const size of sizes) {
      await measurePoints(lines, size)
      curves.push(...lines.filter(({ points }) => points.length === 1 && size === sizes[0]))
      lines = lines.filter(({ points }) => points.at(-1)?.size === size)
    }
  }
  return curves
}

/** Adds a point to each line whose kit is still fast enough; kits take turns. */
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

/** A chart may be seen without the text around it. */
const nameOf = (kit) => kit.replace(/^ours\b/, 'boxoffice').replace(' lock()', ', lock()')

/** The charts as [file, SVG]. */
function chartsOf(curves) {
  return charts.map((chart) => {
    const lines = curves
      .filter(({ row }) => row === chart.row)
      .map(({ kit, points }) => ({
        name: nameOf(kit),
        points: points.map((p) => [p.size, p.value]),
      }))
    return [path.join(docs, chart.file), drawChart({ ...chart, lines })]
  })
}

function drawCurves(curves) {
  for (const [file, svg] of chartsOf(curves)) writeFileSync(file, svg)
}

module.exports = { chartsOf, drawCurves, measureCurves }
