// The results of report.js as Markdown: a row for each { title, threads, waits, reads, before,
// during, ratio, p99, end }.
const { round, spreadText } = require('../numbers.js')
const { table } = require('../tables.js')

const heads = [
  'wait by',
  'threads',
  'waits',
  'reads',
  'ms before',
  'ms while',
  'ratio',
  'p99, ms: before',
  'while',
  'end',
]

/** A process that has read nothing has no times. */
function tableOfReads(cells) {
  const rows = cells.map(({ title, threads, waits, reads, before, during, ratio, p99, end }) => {
    const times = reads === 0 ? ['', '', '', '', ''] : [before, during].map(round)
    if (reads > 0) times.push(spreadText(...ratio), ...p99.map(round))
    return [title, threads, ...[waits, reads].map((n) => n.toLocaleString('en-US')), ...times, end]
  })
  return table([heads, ...rows])
}

module.exports = { tableOfReads }
