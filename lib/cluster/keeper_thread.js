'use strict'
// The code of the thread that renews an engine's session, so that no lease is lost while the event loop is blocked.
const { parentPort, workerData } = require('node:worker_threads')
const { processClock } = require('./clock.js')
const { Renewal } = require('./renewal.js')

const { module: path, data, ttl, claims } = workerData

const renewal = new Renewal({
  // Async, so that it also rejects if the module cannot be loaded.
  connect: async (trouble) => require(path).connect(data, trouble),
  ttl,
  post: (message) => parentPort.postMessage(message),
  clock: processClock,
  claims,
})

async function end() {
  await renewal.end()
  // This ends timers and connection attempts that are still under way.
  process.exit()
}

parentPort.on('message', (message) => {
  if (message === 'end') end()
  else if (message === 'claims') renewal.watchClaims()
  else if (message.isOpening) renewal.prepare(message.id)
  else if (message.buffer === undefined) renewal.forget(message.id)
  else renewal.keep(message)
})
