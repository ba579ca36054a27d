'use strict'
// The surroundings that the documentation's examples assume: a server with its database, and work
// to do.
const assert = require('node:assert/strict')
const { writeSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const threads = require('node:worker_threads')

const root = path.join(__dirname, '..', '..')
// The package by its own name, the tests' dependencies, and, if installed, the peers of the
// benches.
const requires = ['package.json', 'bench/js/package.json'].map((file) =>
  createRequire(path.join(root, file)),
)
const turn = () => new Promise(setImmediate)

const handlers = []
const app = {
  post: (_path, handler) => handlers.push(handler),
  use: (handler) => handlers.push(handler),
}

/** Two clicks of one user on each handler of the server, at once: the story's situation. */
async function visit() {
  for (const handler of handlers) {
    const [first, second] = await Promise.all([click(handler), click(handler)])
    assert.deepEqual(first, second)
  }
}

/** Resolves to the handler's answer. As in Express, its return value is not an answer. */
function click(handler) {
  return new Promise((resolve, reject) => {
    const next = (error) => (error === undefined ? resolve() : reject(error))
    handler({ user: 'ada' }, { json: resolve }, next)?.catch(reject)
  })
}

const orders = new Map()

async function findOrder(user) {
  await turn()
  return orders.get(user)
}

async function createOrder(user) {
  await turn()
  assert.ok(!orders.has(user), `two orders of ${user}`)
  orders.set(user, { user })
  return orders.get(user)
}

/** The code of ./worker.js, for a lock in the given buffer. */
const worker = `
  const { workerData } = require('node:worker_threads')
  const { Mutex } = require(${JSON.stringify(root)})
  const mutex = new Mutex({ buffer: workerData })
  mutex.lockSync()
  mutex.unlock()`

function requireOne(name) {
  for (const each of requires) {
    try {
      return each(name)
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND' || each === requires.at(-1)) throw error
    }
  }
}

class Worker extends threads.Worker {
  constructor(_file, options) {
    super(worker, { ...options, eval: true })
  }
}

module.exports = {
  app,
  assert,
  createOrder,
  findOrder,
  require: requireOne,
  turn,
  show: (value) => writeSync(1, `${JSON.stringify(value)}\n`),
  visit,
  Worker,
  // Work of all kinds, which takes a while.
  ...{ connect: turn, fetch: turn, flush: turn, lead: turn, move: turn, query: turn, read: turn },
  ...{ sell: turn, store: turn },
  url: 'http://localhost',
}
