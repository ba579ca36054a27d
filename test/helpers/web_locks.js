'use strict'
// What the tests of the lock manager share.
const assert = require('node:assert/strict')
const { locks } = require('../..')
const { run } = require('./processes.js')

const entry = JSON.stringify(require.resolve('../..'))

/** Whatever a test asks to be held is let go when it ends. */
function useHolders() {
  let ends = []
  afterEach(() => {
    for (const end of ends) end()
    ends = []
  })
  /** Resolves, once `name` is held, to { lock, end(value), promise }. */
  return (name, options = {}) =>
    new Promise((resolve, reject) => {
      const held = {}
      held.promise = locks.request(name, options, (lock) => {
        held.lock = lock
        const hold = new Promise((end) => {
          held.end = end
        })
        ends.push(held.end)
        resolve(held)
        return hold
      })
      held.promise.catch(reject)
    })
}

/** What query() says of `name`: modes of those who hold and of those who wait, and whose they are. */
async function stateOf(name, manager = locks) {
  const { held, pending } = await manager.query()
  const of = (list) => list.filter((one) => one.name === name)
  return { held: of(held).map((one) => one.mode), pending: of(pending).map((one) => one.mode) }
}

/** Nobody holds it, and nobody waits for it. */
async function assertFree(name) {
  assert.deepEqual(await stateOf(name), { held: [], pending: [] })
  assert.ok(await locks.request(name, { ifAvailable: true }, (lock) => lock !== null))
}

/**
 * Runs `code` in an async function of a process of its own, with `locks`, `show(value)` for what is to be
 * returned, `turn()`, `pending(name)`: until somebody waits, and `start(code)`: a worker with the same, which says
 * when it is `ready()`.
 */
function runLocks(code) {
  const head = `'use strict'
    const { once } = require('node:events')
    const { writeSync } = require('node:fs')
    const { parentPort, Worker } = require('node:worker_threads')
    const { locks } = require(${entry})
    const show = (value) => writeSync(1, JSON.stringify(value) + '\\n')
    const turn = () => new Promise(setImmediate)
    const never = new Promise(() => {})
    async function pending(name) {
      while (!(await locks.query()).pending.some((one) => one.name === name)) await turn()
    }
    const ready = () => parentPort.postMessage('ready')
    async function start(code) {
      const worker = new Worker(head + code + '}', { eval: true })
      // From the start: a worker's first message and its exit may come in one turn of the event loop.
      worker.ended = once(worker, 'exit')
      await once(worker, 'message')
      return worker
    }
    main().catch((error) => {
      console.error(error)
      process.exit(70)
    })
    async function main() {
    `
  return run(['-e', `const head = ${JSON.stringify(head)};${head}${code}}`], { timeout: 30_000 })
}

module.exports = { assertFree, runLocks, stateOf, useHolders }
