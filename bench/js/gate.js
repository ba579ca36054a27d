// Fails when a lock has become slower than in an earlier commit of this library, which is measured in turn with it.
// An earlier version on the same machine is the only measure that another machine does not move: from one processor
// to the next, ratios to other libraries move by a third.
//   node bench/js/gate.js            measures, and compares; what is too slow is measured once more
const { execFileSync } = require('node:child_process')
const { existsSync, mkdirSync, renameSync, rmSync } = require('node:fs')
const path = require('node:path')
const { moreIsBetter } = require('./bars.js')
const { round } = require('./numbers.js')
const { allRows } = require('./results.js')
const { progress, runCell } = require('./run-cell.js')
const { table } = require('./tables.js')

/** The commit to compare with. One that makes a row faster on purpose becomes the next. */
const earlier = '663c1f4'
const root = path.join(__dirname, '..', '..')
const repetitions = 7
const timeout = 60_000
/** The least part of the earlier speed, above noise. Threads contend by chance: their rows vary more. */
const leastPart = 0.85
const leastOfThreads = 0.7

const gates = [
  { row: 'pair' },
  { row: 'releaser' },
  { row: 'run' },
  { row: 'semaphore' },
  { row: 'keyed-run' },
  { row: 'contended' },
  { row: 'drain' },
  { row: 'limit' },
  { row: 'read-mostly' },
  { row: 'main-worker-10', least: leastOfThreads },
  { row: 'workers-sync', least: leastOfThreads },
  { row: 'cluster-4-20', kit: 'ours, ioredis' },
].map((gate) => ({ kit: 'ours', least: leastPart, ...gate }))

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})

async function main() {
  const ours = { now: root, earlier: earlierVersion() }
  const isTooSlow = ({ ratio, least }) => ratio < least
  const first = await measure(gates, ours)
  const again = await measure(first.filter(isTooSlow), ours)
  const last = first.map((one) => again.find(({ row }) => row === one.row) ?? one)
  print(last)
  const slow = last.filter(isTooSlow)
  if (slow.length === 0) return
  const names = slow.map(({ row }) => row).join(', ')
  throw new Error(`Slower than ${earlier}, twice: ${names}.`)
}

/** The folder of the earlier version, with its addon. */
function earlierVersion() {
  const folder = path.join(root, 'build', 'earlier', earlier)
  if (existsSync(folder)) return folder
  progress(`Building ${earlier} ...`)
  const made = `${folder}.part`
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made, { recursive: true })
  const archive = execFileSync('git', ['archive', earlier], { cwd: root, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['x', '-C', made], { input: archive })
  execFileSync(process.execPath, ['binding/build.js', 'addon'], { cwd: made, stdio: 'pipe' })
  renameSync(made, folder)
  return folder
}

/**
 * Each of these with its ratio to the earlier version: more operations a second, or less time. The best run of each counts:
 * whatever else the machine does can only slow a run down.
 */
async function measure(some, ours) {
  const runs = some.map((gate) => ({ ...gate, now: [], earlier: [] }))
  const versions = ['now', 'earlier']
  for (let turn = 1; turn <= repetitions; ++turn) {
    for (const { row, kit, ...values } of runs) {
      progress(`${turn}/${repetitions} ${row}`)
      for (const version of versions)
        values[version].push(await measuredOnce(row, kit, ours[version]))
    }
    versions.reverse()
  }
  progress('')
  return runs.map(({ now, earlier, ...gate }) => {
    const isMore = moreIsBetter(allRows[gate.row])
    const ratio = isMore
      ? Math.max(...now) / Math.max(...earlier)
      : Math.min(...earlier) / Math.min(...now)
    return { ...gate, ratio }
  })
}

async function measuredOnce(row, kit, ours) {
  const result = await runCell(row, kit, { timeout, ours })
  if (result === undefined) throw new Error(`${row} did not end within ${timeout} ms.`)
  return result.value
}

function print(measured) {
  const lines = measured.map(({ row, ratio, least }) => [
    allRows[row].title,
    `${round(ratio)}x`,
    `${least}x`,
  ])
  console.log(table([['the speed', `of ${earlier}`, 'at least'], ...lines]))
}
