// Puts the results that are saved in docs/results/ into docs/performance/, docs/scaling.md and docs/waiting.md, between
// the marks <!-- results: name --> and <!-- end of results -->, into the summary of docs/performance.md and the README's
// table of speed, and draws the charts. By itself: node bench/js/document.js
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { nativeTables } = require('../native/tables.js')
const { drawCurves } = require('./curves.js')
const { tableOfReads } = require('./libuv-pool/table.js')
const { chartFile, chartOfSpeed, withSpeed } = require('./readme.js')
const { results } = require('./results.js')
const { scaleChartsOf } = require('./scale-charts.js')
const { withSummary } = require('./summary.js')
const { tableOfCells, tableOfVerdicts } = require('./tables.js')

const docs = path.join(__dirname, '..', '..', 'docs')
const pages = ['thread', 'process', 'host', 'cluster', 'cpp'].map(
  (page) => `performance/${page}.md`,
)
const documents = [...pages, 'scaling.md', 'waiting.md'].map((file) => path.join(docs, file))
const summary = path.join(docs, 'performance.md')
const readme = path.join(docs, '..', 'README.md')
const part = /^<!-- results: (\S+) -->\n[\s\S]*?^<!-- end of results -->$/gm

/** `text` with the tables of the results read(name) for each name. */
function withResults(text, read) {
  return text.replace(part, (_, name) => {
    const tables = render(name, read(name))
    return `<!-- results: ${name} -->\n\n${tables}\n<!-- end of results -->`
  })
}

function render(name, { machine, repetitions, cells, verdicts = [] }) {
  const { node, cpu, cores, system } = machine
  const where = [
    node && `Node.js ${node}`,
    `${cores} x ${cpu}`,
    system,
    repetitions && `${repetitions} ${repetitions === 1 ? 'round' : 'rounds'}`,
  ]
  const tables = tablesOf(name, cells)
  const head = `${where.filter(Boolean).join(', ')}.\n`
  return [head, ...tables, tableOfVerdicts(verdicts, repetitions)].filter(Boolean).join('\n')
}

function tablesOf(name, cells) {
  if (name === 'libuv-pool') return [tableOfReads(cells)]
  if (name.startsWith('native-')) return nativeTables(cells)
  return results[name].map((section) => tableOfCells(cells, section))
}

function readResults(name) {
  return JSON.parse(readFileSync(path.join(docs, 'results', `${name}.json`), 'utf8'))
}

function saveResults(name, content) {
  mkdirSync(path.join(docs, 'results'), { recursive: true })
  const file = path.join(docs, 'results', `${name}.json`)
  // One line per cell, so that a diff shows what has changed.
  const { cells, ...rest } = content
  const lines = cells.map((cell) => `    ${JSON.stringify(cell)}`).join(',\n')
  const text = JSON.stringify({ ...rest, cells: [] }, null, 2)
  writeFileSync(file, `${text.replace(/"cells": \[\]/, () => `"cells": [\n${lines}\n  ]`)}\n`)
}

function writeDocuments() {
  for (const file of documents) {
    writeFileSync(file, withResults(readFileSync(file, 'utf8'), readResults))
  }
  writeFileSync(summary, withSummary(readFileSync(summary, 'utf8'), readResults))
  writeFileSync(readme, withSpeed(readFileSync(readme, 'utf8'), readResults))
  writeFileSync(chartFile, chartOfSpeed(readResults))
  drawCurves(readResults)
  for (const [file, svg] of scaleChartsOf(readResults('scaling').cells)) writeFileSync(file, svg)
}

module.exports = {
  documents,
  readme,
  readResults,
  saveResults,
  summary,
  withResults,
  writeDocuments,
}

if (require.main === module) writeDocuments()
