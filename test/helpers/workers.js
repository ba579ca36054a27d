'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')

const exits = new WeakMap()

/** A worker that runs `code` with the package's exports, parentPort and workerData in scope. */
function startWorker(code, workerData) {
  const head =
    "const { parentPort, workerData } = require('node:worker_threads');" +
    `const { Mutex, Semaphore } = require(${JSON.stringify(require.resolve('../..'))});`
  const worker = new Worker(head + code, { eval: true, workerData })
  // Listen from the start: a worker's last messages and its exit may come in one turn of the event
  // loop.
  exits.set(worker, once(worker, 'exit'))
  return worker
}

/** Resolves once `worker` has ended well. An error that it throws rejects, and fails the test. */
async function exitOf(worker) {
  const [code] = await exits.get(worker)
  assert.equal(code, 0)
}

/** Resolves when all `workers` have sent their first message. */
function ready(workers) {
  return Promise.all(workers.map((worker) => once(worker, 'message')))
}

module.exports = { exitOf, ready, startWorker }
