// The cost of an operation as queues and maps grow, and the charts of it in docs/.
const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { drawChart } = require('./chart.js')
const { kits } = require('./kits.js')
const { median } = require('./numbers.js')
const { progress, runCell } = require('./run-cell.js')
const { scopeCurves } = require('./scope-curves.js')

const docs = path.join(__dirname, '..', '..', 'docs')
/** A kit that needs longer for one point, in ms, gets no further points. */
const timeout = 60_000
const repetitions = 3

const perAcquisition = 'nanoseconds per acquisition (logarithmic)'
/** Threads and processes. */
const few = [1, 2, 4, 8, 16]

/** By the name of their results. A chart without kits has those of kits.js, one without `ticks` powers of ten. */
const groups = {
  curves: [
    {
      row: 'by-line-length',
      sizes: [1, 10, 100, 1_000, 10_000, 100_000],
      file: 'cost-by-queue-length.svg',
      title: 'Time per acquisition, by queue length',
      across: 'tasks that contend for one lock (logarithmic)',
      up: perAcquisition,
    },
    {
      row: 'by-keys',
      sizes: [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000],
      file: 'cost-by-keys.svg',
      title: 'Time per exclusive run, by number of keys',
      across: 'keys, taken one after the other (logarithmic)',
      up: 'nanoseconds per run (logarithmic)',
    },
  ],
  'scope-curves': [
    {
      row: 'scope-queue',
      sizes: [1, 10, 100, 1_000, 10_000, 100_000],
      file: 'scopes-by-queue-length.svg',
      title: 'Time per acquisition in each scope, by queue length',
      across: 'tasks of one thread that contend for one mutex (logarithmic)',
      up: perAcquisition,
    },
    {
      row: 'scope-keys',
      sizes: [1, 10, 100, 1_000, 10_000],
      file: 'scopes-by-keys.svg',
      title: 'Time per exclusive run in each scope, by number of keys',
      across: 'keys, taken one after the other (logarithmic)',
      up: 'nanoseconds per run (logarithmic)',
    },
    {
      row: 'threads',
      sizes: few,
      ticks: few,
      file: 'cost-by-threads.svg',
      title: 'Time per acquisition, by number of threads',
      across: 'workers that contend for one mutex (logarithmic)',
      up: perAcquisition,
    },
    {
      row: 'processes',
      sizes: few,
      ticks: few,
      file: 'cost-by-processes.svg',
      title: 'Time per acquisition, by number of processes',
      across: 'processes that contend for one key (logarithmic)',
      up: perAcquisition,
    },
    {
      row: 'leases',
      sizes: [1, 10, 100, 1_000, 10_000],
      file: 'cost-by-leases.svg',
      title: 'Time per acquisition of a free key, by number of leases',
      across: 'other keys that the process holds (logarithmic)',
      up: 'microseconds per acquisition (logarithmic)',
    },
  ],
}

const kitsOf = (row) => scopeCurves[row]?.kits ?? Object.keys(kits)

/** Measures the curves of a group. */
async function measureCurves(name) {
  const curves = []
  for (const { row, sizes } of groups[name]) {
    let lines = kitsOf(row).map((kit) => ({ row, kit, points: [] }))
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
const nameOf = (kit) =>
  kit.replace(/^ours\b( lock)?/, (_, lock) => `boxoffice${lock ? ', lock' : ''}`)

/** The charts of all groups, whose curves are read(name), as [file, SVG]. */
function chartsOf(read) {
  return Object.entries(groups).flatMap(([name, charts]) => {
    const curves = read(name).cells
    return charts.map((chart) => [path.join(docs, chart.file), drawn(chart, curves)])
  })
}

function drawn(chart, curves) {
  const lines = curves
    .filter(({ row }) => row === chart.row)
    .map(({ kit, points }) => ({
      name: nameOf(kit),
      points: points.map((p) => [p.size, p.value]),
    }))
  return drawChart({ ...chart, lines })
}

function drawCurves(read) {
  for (const [file, svg] of chartsOf(read)) writeFileSync(file, svg)
}

module.exports = { chartsOf, curveNames: Object.keys(groups), drawCurves, measureCurves }
