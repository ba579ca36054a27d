'use strict'
// One more try for a test that fails while this process stood still, as what a test expects within so many
// milliseconds says nothing about the code then. A test that mocha has timed out gets none: a wake-up that is lost
// looks like that.
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')

/** From so many milliseconds on. */
const longest = 15
const beat = 10

// A thread of its own is late only where all of the process does not run, not where a test blocks its event loop. It
// writes when it last ran, and by how much it was late at most, in nanoseconds.
const times = new BigInt64Array(new SharedArrayBuffer(16))
const heart = `
  const { workerData: times } = require('node:worker_threads')
  setInterval(() => {
    const now = process.hrtime.bigint()
    const late = now - Atomics.exchange(times, 0, now) - ${beat}_000_000n
    if (late > Atomics.load(times, 1)) Atomics.store(times, 1, late)
  }, ${beat})`

/** For how many milliseconds this process stood still at most since startWatch(). */
function stoodStill() {
  const now = process.hrtime.bigint() - Atomics.load(times, 0) - BigInt(beat) * 1_000_000n
  const before = Atomics.load(times, 1)
  return Number(now > before ? now : before) / 1e6
}

function startWatch() {
  Atomics.store(times, 1, 0n)
}

/** Lets mocha run `test` once more where it fails for the first time, as above. */
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
