// The charts of what an acquisition costs a server (scale-rows.js).
const path = require('node:path')
const { drawChart } = require('./chart.js')
const { median } = require('./numbers.js')
const { scaleServers } = require('./scale-servers.js')

const docs = path.join(__dirname, '..', '..', 'docs')

const charts = [
  {
    rows: /^scale-hot-(\d+)$/,
    field: 'processor',
    file: 'server-cost-by-processes.svg',
    title: "Server's processor time per acquisition of one key",
    across: 'processes of ten callers each that want it (logarithmic)',
    up: 'microseconds (logarithmic)',
  },
  {
    rows: /^scale-sessions-(\d+)$/,
    field: 'processor',
    file: 'server-cost-by-sessions.svg',
    title: "Server's processor time per acquisition of a free key",
    across: 'sessions that are open (logarithmic)',
    up: 'microseconds (logarithmic)',
  },
]

/** The charts of the results `cells` as [file, SVG]. */
function scaleChartsOf(cells) {
  return charts.map(({ rows, field, file, ...chart }) => {
    const lines = Object.keys(scaleServers).map((name) => ({ name, points: [] }))
    for (const { row, kit, runs } of cells) {
      const [, size] = rows.exec(row) ?? []
      if (size === undefined) continue
      const { points } = lines.find(({ name }) => name === kit)
      points.push([Number(size), median(runs.map((run) => run[field]))])
    }
    return [path.join(docs, file), drawChart({ ...chart, lines })]
  })
}

module.exports = { scaleChartsOf }
