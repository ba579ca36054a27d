'use strict'
const { Worker } = require('node:worker_threads')

/** A worker that runs `code` with the package's exports, parentPort and workerData in scope. */
function startWorker(code, workerData) {
  const head =
    "const { parentPort, workerData } = require('node:worker_threads');" +
    `const { Mutex, Semaphore } = require(${JSON.stringify(require.resolve('../..'))});`
  return new Worker(head + code, { eval: true, workerData })
}

module.exports = { startWorker }
