'use strict'

const integer = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
})

const columns = [
  ['', (row) => row.title],
  ['processes', (row) => integer.format(row.processes)],
  ['clicks', (row) => integer.format(row.requests)],
  ['tickets sold', (row) => integer.format(row.sold)],
  ['to people', (row) => integer.format(row.people)],
  ['double tickets', (row) => integer.format(row.doubles)],
  ['killed', (row) => integer.format(row.kills)],
  ['p50 ms', (row) => tenths.format(row.p50)],
  ['p99 ms', (row) => tenths.format(row.p99)],
]

/** The table as text, which is Markdown as well. */
module.exports = function table(rows) {
  const cells = [
    columns.map(([head]) => head),
    ...rows.map((row) => columns.map(([, of]) => of(row))),
  ]
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i].length)))
  const pad = (text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))
  const lines = cells.map((line) => `| ${line.map(pad).join(' | ')} |`)
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [lines[0], `| ${rule.join(' | ')} |`, ...lines.slice(1)].join('\n')
}
