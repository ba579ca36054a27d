'use strict'
// The tables and charts of the documents match the saved results.
const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { chartsOf } = require('../../bench/js/curves.js')
const {
  documents,
  readme,
  readResults,
  summary,
  withResults,
} = require('../../bench/js/document.js')
const { chartFile, chartOfSpeed, withSpeed } = require('../../bench/js/readme.js')
const { results } = require('../../bench/js/results.js')
const { scaleChartsOf } = require('../../bench/js/scale-charts.js')
const { withSummary } = require('../../bench/js/summary.js')

const text = documents.map((file) => readFileSync(file, 'utf8')).join('\n')
const names = [...text.matchAll(/^<!-- results: (\S+) -->$/gm)].map(([, name]) => name)

describe('the tables of the documents', () => {
  it('are those that npm run docs:performance makes of the results', () => {
    assert.ok(withResults(text, readResults) === text, 'not what docs/results/ says')
  })

  it('begin with the summary of the results', () => {
    const page = readFileSync(summary, 'utf8')
    assert.ok(withSummary(page, readResults) === page, 'not what docs/results/ says')
    const rows = page
      .match(/^<!-- summary -->\n([\s\S]*?)<!-- end of summary -->$/m)[1]
      .trim()
      .split('\n')
    assert.ok(rows.length > 30, `${rows.length} rows`)
  })

  it('show all results', () => {
    for (const name of Object.keys(results)) assert.ok(names.includes(name), name)
  })

  it('change when a number does', () => {
    for (const name of names) {
      const changed = (wanted) => {
        const content = readResults(wanted)
        const [cell] = wanted === name ? content.cells : []
        if (cell?.runs) for (const run of cell.runs) for (const field in run) run[field] = 12345
        if (cell?.reads) cell.reads = 12345
        if (cell?.spread) for (const field in cell.spread) cell.spread[field] = [12345, 1, 54321]
        return content
      }
      assert.match(withResults(text, changed), /12,345/, name)
    }
  })

  it('have the charts of the results beside them', () => {
    const charts = [...chartsOf(readResults), ...scaleChartsOf(readResults('scaling').cells)]
    for (const [file, svg] of charts) {
      assert.equal(readFileSync(file, 'utf8'), svg)
    }
  })
})

describe('the speed in the README', () => {
  const page = readFileSync(readme, 'utf8')

  it('is the one that npm run docs:performance makes of the results', () => {
    assert.ok(withSpeed(page, readResults) === page, 'not what docs/results/ says')
  })

  it('has the chart of the results beside its table', () => {
    assert.equal(readFileSync(chartFile, 'utf8'), chartOfSpeed(readResults))
  })

  it('has a number of this library and of another one in each row', () => {
    const [, table] = page.match(/^<!-- speed -->\n([\s\S]*?)<!-- end of speed -->$/m)
    const rows = table.trim().split('\n').slice(2)
    for (const row of rows) {
      const [, _title, ours, ...others] = row.split('|').map((cell) => cell.trim())
      assert.match(ours, /\d/, row)
      assert.ok(others.some(Boolean), row)
    }
  })
})
