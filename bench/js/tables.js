// Cells of benches as Markdown. A cell is { row, kit, runs: [{ [field]: number }] }, or, where the runs have not been kept,
// { row, kit, spread: { [field]: [median, least, most] } }.
const { median, round, spread, spreadText } = require('./numbers.js')

function valuesOf(cells, row, kit, field) {
  const cell = cells.find((one) => one.row === row && one.kit === kit)
  // Some servers do not report every number.
  return cell?.runs?.map((run) => run[field]).filter((value) => value !== undefined) ?? []
}

/** The median of the values of a cell, or undefined. */
function numberOf(cells, row, kit) {
  const values = valuesOf(cells, row, kit, 'value')
  if (values.length > 0) return median(values)
  return cells.find((cell) => cell.row === row && cell.kit === kit)?.spread?.value[0]
}

function textOf(cells, row, kit, field) {
  const values = valuesOf(cells, row, kit, field)
  if (values.length > 0) return spread(values)
  const kept = cells.find((one) => one.row === row && one.kit === kit)?.spread?.[field]
  return kept ? spreadText(...kept) : ''
}

/** A row for each number of a work, a column for each kit; '' if nothing of it was measured. */
function tableOfCells(all, { rows, kits }) {
  const cells = all.filter(({ row, kit }) => rows[row] && kits[kit])
  if (cells.length === 0) return ''
  const names = Object.keys(kits).filter((name) => cells.some(({ kit }) => kit === name))
  const body = Object.entries(rows).flatMap(([row, { lines, title, unit }]) =>
    (lines ?? [{ field: 'value', title, unit }]).map((line) => ({
      head: [line.title, line.unit],
      texts: names.map((kit) => textOf(cells, row, kit, line.field)),
    })),
  )
  const measured = body.filter(({ texts }) => texts.some(Boolean))
  return table([
    ['median (min-max)', '', ...names],
    ...measured.map(({ head, texts }) => [...head, ...texts]),
  ])
}

/** The results of the bars, or ''. `repetitions` is how many rounds there were. */
function tableOfVerdicts(verdicts, repetitions) {
  if (verdicts.length === 0) return ''
  return table([
    ['ours against the bars', 'bar', 'got', '', 'rounds that meet it'],
    ...verdicts.map(({ title, bar, got, met, rounds }) => [
      title,
      bar,
      round(got),
      met ? 'met' : 'missed',
      `${rounds} of ${repetitions}`,
    ]),
  ])
}

function table([head, ...body]) {
  const rule = head.map((_, i) => (i === 0 ? '---' : '---:'))
  return [head, rule, ...body].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

module.exports = { numberOf, table, tableOfCells, tableOfVerdicts, valuesOf }
