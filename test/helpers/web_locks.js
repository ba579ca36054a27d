'use strict'
// Helpers for the tests of the lock manager.
const assert = require('node:assert/strict')
const { locks } = require('../..')
const { keptAlive, run } = require('./processes.js')

const entry = JSON.stringify(require.resolve('../..'))

/** Locks held for a test are released when it ends. */
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

/** The entries of query() for `name`: modes of holders and waiters, and their clients. */
async function stateOf(name, manager = locks) {
  const { held, pending } = await manager.query()
  const of = (list) => list.filter((one) => one.name === name)
  return { held: of(held).map((one) => one.mode), pending: of(pending).map((one) => one.mode) }
}

/** It is free, and has no waiter. */
async function assertFree(name) {
  assert.deepEqual(await stateOf(name), { held: [], pending: [] })
  assert.ok(await locks.request(name, { ifAvailable: true }, (lock) => lock !== null))
}

/**
 * Runs `code` in an async function of a child process, with `locks`, `show(value)` for output,
 * `turn()`, `keptAlive()`, `pending(name)`, which resolves when a request waits, and `start(code)`: a
 * worker with the same, which calls `ready()`.
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
    ${keptAlive}
    async function pending(name) {
      while (!(await locks.query()).pending.some((one) => one.name === name)) await turn()
    }
    const ready = () => parentPort.postMessage('ready')
    async function start(code) {
      const worker = new Worker(head + code + '}', { eval: true })
      // Listen from the start: a worker's first message and its exit may come in one turn of the
      // event loop.
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
