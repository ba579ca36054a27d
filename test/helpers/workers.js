'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')

/** A worker that runs `code` with the package's exports, parentPort and workerData in scope. */
function startWorker(code, workerData) {
  const head =
    "const { parentPort, workerData } = require('node:worker_threads');" +
    `const { Mutex, Semaphore } = require(${JSON.stringify(require.resolve('../..'))});`
  return new Worker(head + code, { eval: true, workerData })
}

/** Resolves once `worker` has ended well. What it throws rejects, and fails the test. */
async function exitOf(worker) {
  const [code] = await once(worker, 'exit')
  assert.equal(code, 0)
}

/** Resolves when all `workers` have sent their first message. */
function ready(workers) {
  return Promise.all(workers.map((worker) => once(worker, 'message')))
}

module.exports = { exitOf, ready, startWorker }
