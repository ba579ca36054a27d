'use strict'
// Threads that compete for locks by name, with an oracle, and threads that die meanwhile.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { locks } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { scaled } = require('../helpers/scale.js')
const { broken, fields, play, startPlaying, visits } = require('../helpers/web_locks_thread.js')

const entry = JSON.stringify(require.resolve('../..'))
const ints = (length) => new Int32Array(new SharedArrayBuffer(length * 4))

/**
 * How many pairs of one name, not both shared, entered in another order than they had requested.
 */
function disorders(rows) {
  let count = 0
  const latest = { all: -1, exclusive: -1 } // when the holders so far had requested
  rows.sort((a, b) => a[4] - b[4])
  for (const [, isShared, before, after] of rows) {
    if ((isShared ? latest.exclusive : latest.all) > after) count++
    latest.all = Math.max(latest.all, before)
    if (!isShared) latest.exclusive = Math.max(latest.exclusive, before)
  }
  return count
}

describe('locks that threads compete for', function () {
  this.timeout(120_000)

  it('are held alone or shared, and granted in the order of the requests', async () => {
    const names = [freshName(), freshName(), freshName()]
    const seen = ints(names.length * fields)
    const clock = ints(1)
    const part = { names, seen, clock, tasks: 12, visits: scaled(8000, 200) }
    const workers = [1, 2].map((thread) => startPlaying({ ...part, thread }))
    const theirs = workers.map((worker) => once(worker, 'message'))
    const ours = await play({ ...part, thread: 0 })
    const rows = [ours, ...(await Promise.all(theirs)).map(([rows]) => rows)].flat()
    for (const [i, name] of names.entries()) {
      const own = rows.filter((row) => row[0] === i)
      const exclusive = own.filter(([, isShared]) => !isShared)
      assert.ok(exclusive.length > 0 && exclusive.length < own.length, name)
      assert.equal(disorders(own), 0)
      const [writers, readers, breaks, counted] = seen.subarray(i * fields, (i + 1) * fields)
      assert.deepEqual([writers, readers, breaks, counted], [0, 0, 0, exclusive.length])
    }
    assert.deepEqual([broken, visits], [2, 3])
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })

  it('the oracle detects a wrong order', () => {
    const row = (isShared, before, after, when) => [0, isShared, before, after, when]
    assert.equal(disorders([row(false, 0, 1, 2), row(false, 3, 4, 5)]), 0)
    assert.equal(disorders([row(false, 0, 1, 9), row(false, 3, 4, 5)]), 1)
    assert.equal(disorders([row(true, 0, 1, 9), row(true, 3, 4, 5)]), 0)
    assert.equal(disorders([row(false, 0, 1, 9), row(true, 3, 4, 5)]), 1)
    assert.equal(disorders([row(true, 0, 1, 9), row(false, 3, 4, 5)]), 1)
    assert.equal(disorders([row(false, 0, 4, 9), row(false, 3, 5, 6)]), 0)
  })

  it('are released by threads that die holding, waiting, stealing, or being admitted', async () => {
    const names = Array.from({ length: 4 }, freshName)
    let isOver = false
    let granted = 0
    // This thread competes with them all the time: a thread that is never admitted again stops the test.
    const visit = async (name) => {
      const release = await locks.acquire(name, { mode: granted % 2 ? 'shared' : 'exclusive' })
      granted++
      if (granted % 5 === 0) await new Promise(setImmediate)
      release()
    }
    const compete = async (name) => {
      while (!isOver) {
        await visit(name).catch((error) => assert.equal(error.name, 'AbortError')) // stolen
        if (granted % 7 === 0) await new Promise(setImmediate)
      }
    }
    const rivals = names.map(compete)
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      const { locks } = require(${entry})
      const { names, round } = workerData
      let count = round
      const options = [{}, { mode: 'shared' }, { steal: true }, { ifAvailable: true }, { timeout: 1 }]
      async function task(name) {
        for (;;) {
          const how = options[count++ % options.length]
          await locks.request(name, how, () => new Promise(setImmediate)).catch(() => {})
          if (count % 3 === 0) await new Promise(setImmediate)
        }
      }
      for (const name of names) for (let i = 0; i < 5; i++) task(name)
      locks.request(names[0] + ' own', () => new Promise(() => {}))
      if (round % 4 === 0) setTimeout(() => process.exit(), 1)
      parentPort.postMessage('at work')
      if (round % 4 === 1) for (;;);`
    const die = async (round) => {
      const worker = new Worker(code, { eval: true, workerData: { names, round } })
      const ended = once(worker, 'exit')
      await Promise.race([once(worker, 'message'), ended])
      worker.terminate()
      await ended
    }
    try {
      const rounds = scaled(200, 12)
      for (let round = 0; round < rounds; round += 3) {
        await Promise.all([die(round), die(round + 1), die(round + 2)])
      }
      const before = granted
      while (granted < before + 100) await new Promise(setImmediate)
    } finally {
      isOver = true
    }
    await Promise.all(rivals)
    const own = await locks.acquire(`${names[0]} own`)
    assert.equal(own.abandoned, true)
    own()
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })
})
