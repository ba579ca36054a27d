// One measurement in a process of its own: one work with one kit.
//   node --expose-gc bench/js/cell.js row kit [size]
// Prints a line of JSON, or null for a kit that cannot do the work.
const { clusterRows, firstRows } = require('./cluster-rows.js')
const { diagnosticsKits, diagnosticsRows } = require('./diagnostics.js')
const { kits } = require('./kits.js')
const { loadRows } = require('./load-rows.js')
const { lockKits } = require('./lock-kits.js')
const { lockRows } = require('./lock-rows.js')
const { hostRows } = require('./host-rows.js')
const { curves, rows } = require('./rows.js')
const { scaleRows } = require('./scale-rows.js')
const { scopeCurves } = require('./scope-curves.js')
const { threadRows } = require('./thread-rows.js')
const { measureThreads } = require('./threads.js')

main(...process.argv.slice(2))

async function main(rowName, kitName, size) {
  if (threadRows[rowName]) return print(await measureThreads(threadRows[rowName], kitName))
  if (loadRows[rowName]) return print(await loadRows[rowName].measure(kitName))
  if (lockRows[rowName]) return print(await lockRows[rowName].measure(lockKits[kitName]()))
  if (hostRows[rowName]) return print(await hostRows[rowName].measure(kitName))
  const byServer = clusterRows[rowName] ?? firstRows[rowName]
  if (byServer) return print(await byServer.measure(kitName))
  if (scaleRows[rowName]) return print(await scaleRows[rowName].measure(kitName))
  if (scopeCurves[rowName]) return print(await scopeCurves[rowName].measure(kitName, Number(size)))
  const row = rows[rowName] ?? diagnosticsRows[rowName] ?? curves[rowName]
  const form = (await (kits[kitName] ?? diagnosticsKits[kitName])())[row.form]
  if (!form) return print(null)
  await checkExclusion(form)
  print(await row.measure(form, size && Number(size)))
}

/** A kit that admits every caller at once would be the fastest of all. */
async function checkExclusion(form) {
  const permits = form.permits ?? 1
  const lock = form.create()
  let inside = 0
  let most = 0
  const body = async () => {
    most = Math.max(most, ++inside)
    await new Promise(setImmediate)
    --inside
  }
  const task = async () => {
    if (form.run) return form.run(lock, body, 'key')
    const grant = await form.enter(lock, 'key')
    await body()
    form.leave(lock, grant)
  }
  await Promise.all(Array.from({ length: 2 * permits }, task))
  if (most !== permits) throw new Error(`${most} tasks were inside together, not ${permits}`)
}

function print(result) {
  // Ends tasks that wait for ever, and a long queue that need not be drained.
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit())
}
