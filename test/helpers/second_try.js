'use strict'
// Repeats a test that failed while this process stalled: after a stall, a test's deadlines in
// milliseconds prove nothing about the code. A test that mocha has timed out is not repeated,
// because a lost wake-up looks the same.
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')

/** The shortest stall that counts, in milliseconds. */
const longest = 15
const beat = 10

// A separate thread is late only when the whole process does not run, not when a test blocks its
// event loop. It writes when it last ran, and its largest delay, in nanoseconds.
const times = new BigInt64Array(new SharedArrayBuffer(16))
const heart = `
  const { workerData: times } = require('node:worker_threads')
  setInterval(() => {
    const now = process.hrtime.bigint()
    const late = now - Atomics.exchange(times, 0, now) - ${beat}_000_000n
    if (late > Atomics.load(times, 1)) Atomics.store(times, 1, late)
  }, ${beat})`

/** The longest stall of this process in milliseconds since startWatch(). */
function stoodStill() {
  const now = process.hrtime.bigint() - Atomics.load(times, 0) - BigInt(beat) * 1_000_000n
  const before = Atomics.load(times, 1)
  return Number(now > before ? now : before) / 1e6
}

function startWatch() {
  Atomics.store(times, 1, 0n)
}

/** Makes mocha run `test` once more if it fails for the first time, as described above. */
function giveSecondTry(test) {
  const { run } = test
  test.run = (ended) =>
    run.call(test, (error) => {
      const isFirst = Boolean(error) && !test.isPending() && test.currentRetry() === 0
      const stood = stoodStill()
      if (isFirst && stood >= longest && error.code !== 'ERR_MOCHA_TIMEOUT') {
        test.retries(Math.max(1, test.retries()))
        const why = `the process stood still for ${stood.toFixed()} ms`
        console.error(`One more try, as ${why}: ${test.fullTitle()}`)
        console.error(error)
      }
      ended(error)
    })
}

exports.mochaHooks = {
  async beforeAll() {
    const worker = new Worker(heart, { eval: true, workerData: times })
    worker.unref()
    await once(worker, 'online')
    Atomics.store(times, 0, process.hrtime.bigint())
  },
  beforeEach() {
    startWatch()
    giveSecondTry(this.currentTest)
  },
}
