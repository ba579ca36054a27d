// Each thread's part of a work. In a worker, this is the program.
const { isMainThread, parentPort, workerData } = require('node:worker_threads')
const { threadKits } = require('./thread-kits.js')
const { works } = require('./works.js')

if (!isMainThread) takePart(workerData).then((result) => parentPort.postMessage(result))

async function takePart({ kit, form: formName, work, key, ...rest }) {
  // Atomics.waitAsync does not keep an event loop alive.
  const alive = setInterval(() => {}, 1_000)
  const form = (await threadKits[kit]())[formName]
  const result = await works[work](form, form.open(key), rest)
  clearInterval(alive)
  return result
}

module.exports = { takePart }
