// Fails when a lock of this library has become slower, compared with its peers, than in
// docs/results/gate.json.
//   node bench/js/gate.js            measures, and compares; what is too slow is measured once more
//   node bench/js/gate.js --record   measures, and writes the file
// A peer in the same run represents the machine, so that the ratio is valid on other machines.
const { readFileSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { moreIsBetter } = require('./bars.js')
const { median, round } = require('./numbers.js')
const { installPeers, progress, runCell } = require('./run-cell.js')
const { allRows } = require('./results.js')
const { table } = require('./tables.js')

const file = path.join(__dirname, '..', '..', 'docs', 'results', 'gate.json')
const repetitions = 5
const timeout = 60_000
/** The fraction of the recorded ratio that must be reached: noise stays above it. */
const leastPart = 0.8

const gates = [
  ['pair', 'async-mutex'],
  ['run', 'async-mutex'],
  ['semaphore', 'async-sema'],
  ['keyed-run', 'async-mutex'],
  ['contended', 'async-sema'],
  ['drain', 'async-sema'],
  ['main-worker-10', 'article'],
  ['workers-sync', 'article'],
].map(([row, peer]) => ({ row, peer }))

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})

async function main() {
  const { values: options } = parseArgs({
    options: { record: { type: 'boolean', default: false } },
  })
  installPeers()
  if (options.record) return record()
  const ratios = JSON.parse(readFileSync(file, 'utf8'))
  const isTooSlow = ({ row, ratio }) => ratio < leastPart * ratios[row]
  const first = await measure(gates)
  const again = await measure(first.filter(isTooSlow))
  const last = first.map((one) => again.find(({ row }) => row === one.row) ?? one)
  print(last, ratios)
  const slow = last.filter(isTooSlow)
  if (slow.length === 0) return
  throw new Error(`Slower than recorded, twice: ${slow.map(({ row }) => row).join(', ')}.`)
}

async function record() {
  const measured = await measure(gates)
  const ratios = Object.fromEntries(measured.map(({ row, ratio }) => [row, ratio]))
  writeFileSync(file, `${JSON.stringify(ratios, null, 2)}\n`)
  print(measured, ratios)
}

/** Each of these with the ratio to the peer: more operations a second, or less time. */
async function measure(some) {
  const runs = some.map((gate) => ({ ...gate, ours: [], theirs: [] }))
  for (let turn = 1; turn <= repetitions; ++turn) {
    for (const { row, peer, ours, theirs } of runs) {
      progress(`${turn}/${repetitions} ${row}`)
      ours.push(await measuredOnce(row, 'ours'))
      theirs.push(await measuredOnce(row, peer))
    }
  }
  progress('')
  return runs.map(({ row, peer, ours, theirs }) => {
    const ratio = median(ours) / median(theirs)
    return { row, peer, ratio: moreIsBetter(allRows[row]) ? ratio : 1 / ratio }
  })
}

async function measuredOnce(row, kit) {
  const result = await runCell(row, kit, { timeout })
  if (result === undefined) throw new Error(`${row} by ${kit} did not end within ${timeout} ms.`)
  return result.value
}

function print(measured, ratios) {
  const lines = measured.map(({ row, peer, ratio }) => [
    allRows[row].title,
    `${round(ratio)}x ${peer}`,
    `${round(ratios[row])}x`,
    `${round(leastPart * ratios[row])}x`,
  ])
  console.log(table([['ours against a peer', 'now', 'recorded', 'at least'], ...lines]))
}
