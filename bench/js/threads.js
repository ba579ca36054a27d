// Runs a work in several threads that share a lock: the main thread may be one of them.
const path = require('node:path')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { newBoard } = require('./board.js')
const { takePart } = require('./thread.js')
const { threadKits } = require('./thread-kits.js')
const { summaries } = require('./works.js')

/** The row's numbers; null for a kit that cannot do the work. */
async function measureThreads({ work, threads, tasks }, kit) {
  const forms = await threadKits[kit]()
  if (!threads.every(({ form }) => forms[form])) return null
  const { create, isLeaky } = forms[threads[0].form]
  const shared = { kit, work, tasks, key: create(), board: newBoard(threads.length) }
  shared.stamp = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
  const parts = threads.map(({ place, form }, index) => {
    const part = { ...shared, form, index }
    return place === 'main' ? takePart(part) : inWorker(part)
  })
  const results = await Promise.all(parts)
  const overlaps = results.reduce((sum, result) => sum + result.overlaps, 0)
  if (overlaps > 0 && !isLeaky) throw new Error(`${overlaps} times two were inside together.`)
  return { ...summaries[work](results), overlaps }
}

async function inWorker(part) {
  const worker = new Worker(path.join(__dirname, 'thread.js'), { workerData: part })
  const [result] = await once(worker, 'message')
  return result
}

module.exports = { measureThreads }
