'use strict'
// Shows that a long step goes on while it blocks this thread: a second thread writes how long it has taken.
const { writeSync } = require('node:fs')
const { isMainThread, Worker, workerData } = require('node:worker_threads')

const stderr = 2
const say = (text) => writeSync(stderr, `${text}\n`)

/** The result of `work`. Writes `text` now, and the time again and again, `every` so many milliseconds. */
function withProgress(text, work, every = 10_000) {
  const start = Date.now()
  say(text)
  const worker = new Worker(__filename, { workerData: { text, start, every } })
  try {
    const result = work()
    say(`${text}: done in ${secondsSince(start)}`)
    return result
  } finally {
    worker.terminate()
  }
}

const secondsSince = (start) => `${Math.round((Date.now() - start) / 1000)} s`

if (!isMainThread) {
  const { text, start, every } = workerData
  setInterval(() => say(`${text}: ${secondsSince(start)}`), every)
}

module.exports = { withProgress }
