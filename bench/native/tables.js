// Cells of the native benches as Markdown. A cell is { group, test, variant, kit, runs: [{ [field]: number }] }, or, where the
// runs have not been kept, { ..., spread: { [field]: [median, least, most] } }.
const { median, spread, spreadText } = require('../js/numbers.js')
const { table } = require('../js/tables.js')

const byKit = { down: ({ kit }) => kit, across: ({ test }) => test.replaceAll('_', ' ') }
const byThreads = { down: ({ kit }) => kit, across: ({ variant }) => variant.replace(':', ': ') }
const bySize = { down: ({ test }) => test.replaceAll('_', ' '), across: ({ variant }) => variant }

/** The tables of each group: title, field, and what is a row and what a column. */
const layouts = {
  suite: [{ title: 'ms', field: 'time', ...byKit }],
  micro: [{ title: 'ns', field: 'time', ...byKit }],
  contention: [
    { title: 'million turns a second', field: 'turns', ...byThreads },
    { title: 'longest wait, ms', field: 'longest', ...byThreads },
    {
      title: 'turns of the poorest thread over those of the richest',
      field: 'fairness',
      ...byThreads,
    },
  ],
  queues: [{ title: 'ns, by the number of waiters or queues', field: 'time', ...bySize }],
}

/** The fields kept from Google Benchmark's report of a run. */
function numbersOf(result) {
  if (result.longest_wait_us === undefined) return { time: result.real_time }
  return {
    turns: result.items_per_second / 1e6,
    longest: result.longest_wait_us / 1e3,
    fairness: result.fewest_turns / result.most_turns,
  }
}

/** The tables of all groups that there are cells of. */
function nativeTables(cells) {
  return Object.entries(layouts).flatMap(([group, tables]) => {
    const members = cells.filter((cell) => cell.group === group)
    if (members.length === 0) return []
    const ratios = group === 'suite' ? [ratiosOf(members)] : []
    return [...tables.map((layout) => tableOf(members, layout)), ...ratios]
  })
}

function tableOf(cells, { title, field, down, across }) {
  const columns = [...new Set(cells.map(across))]
  const at = (row, column) => cells.find((cell) => down(cell) === row && across(cell) === column)
  const rows = [...new Set(cells.map(down))].map((row) => [
    row,
    ...columns.map((column) => textOf(at(row, column), field)),
  ])
  const isMeasured = rows.some((row) => row.slice(1).some(Boolean))
  return isMeasured ? table([[`median (min-max): ${title}`, ...columns], ...rows]) : ''
}

function textOf(cell, field) {
  if (cell?.runs) return spread(cell.runs.map((run) => run[field]))
  return cell?.spread?.[field] ? spreadText(...cell.spread[field]) : ''
}

/** This library compared with the better of the article's two forms, with the best other library, and with the floor. */
function ratiosOf(cells) {
  const tests = [...new Set(cells.map(({ test }) => test))]
  const body = tests.map((test) => {
    const middle = (kit) => middleOf(cells.find((cell) => cell.test === test && cell.kit === kit))
    const best = (...kits) => Math.min(...kits.map(middle))
    const ratio = (to) => (Number.isFinite(to) ? (middle('ours') / to).toFixed(2) : '')
    const ratios = [
      best('article_spin', 'article_nospin'),
      best('std', 'absl', 'nsync'),
      middle('apart'),
    ]
    return [test.replaceAll('_', ' '), ...ratios.map(ratio)]
  })
  const head = ['ours /', 'better of the article', 'best of std, absl and nsync', 'work alone']
  return table([head, ...body])
}

/** NaN if it was not measured. */
function middleOf(cell) {
  if (cell?.runs) return median(cell.runs.map(({ time }) => time))
  return cell?.spread?.time[0] ?? Number.NaN
}

module.exports = { nativeTables, numbersOf }
