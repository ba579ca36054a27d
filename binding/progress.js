'use strict'
// Shows that a long step goes on while it blocks this thread: a second thread writes how long it has taken.
const { writeSync } = require('node:fs')
const { isMainThread, Worker, workerData } = require('node:worker_threads')

const stderr = 2
// The word that both threads share: the second one writes nothing after the last line.
const [idle, writing, over] = [0, 1, 2]
const say = (text) => writeSync(stderr, `${text}\n`)

/** Returns work(). Writes `text` now, and then the time taken, each time after `every` milliseconds. */
function withProgress(text, work, every = 10_000) {
  const start = Date.now()
  say(text)
  const word = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(__filename, { workerData: { text, start, every, word } })
  try {
    const result = work()
    while (Atomics.compareExchange(word, 0, idle, over) === writing) Atomics.wait(word, 0, writing)
    say(`${text}: done in ${secondsSince(start)}`)
    return result
  } finally {
    worker.terminate()
  }
}

const secondsSince = (start) => `${Math.round((Date.now() - start) / 1000)} s`

if (!isMainThread) {
  const { text, start, every, word } = workerData
  setInterval(() => {
    if (Atomics.compareExchange(word, 0, idle, writing) === over) return
    say(`${text}: ${secondsSince(start)}`)
    Atomics.store(word, 0, idle)
    Atomics.notify(word, 0)
  }, every)
}

module.exports = { withProgress }
