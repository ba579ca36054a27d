'use strict'
// Workers that run the tests' code, step by step: `await agent.does('await mutex.lock()')`.
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')

const entry = require.resolve('../..')

const body = `
  const { parentPort, workerData } = require('node:worker_threads')
  const boxoffice = require(${JSON.stringify(entry)})
  const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  const say = (what) => parentPort.postMessage({ said: what })
  const codeOf = async (action) => {
    try { await action() } catch (error) { return error.code ?? error.name }
  }
  const my = {} // what steps leave for later ones
  parentPort.on('message', async ({ id, code }) => {
    try {
      const Step = (async () => {}).constructor
      const step = new Step('boxoffice', 'sleep', 'say', 'codeOf', 'my', 'workerData', 'vm', code)
      parentPort.postMessage({ id, value: await step(boxoffice, sleep, say, codeOf, my, workerData, require('node:vm')) })
    } catch (error) {
      parentPort.postMessage({ id, error })
    }
  })`

class Agent {
  #steps = new Map()
  #last = 0
  #saidLast
  #ended

  constructor(workerData) {
    this.worker = new Worker(body, { eval: true, workerData })
    this.#ended = once(this.worker, 'exit')
    this.#hear()
    this.worker.on('message', ({ id, value, error, said }) => {
      if (id === undefined) {
        const heard = this.#saidLast
        this.#hear()
        heard(said)
        return
      }
      const { resolve, reject } = this.#steps.get(id)
      this.#steps.delete(id)
      if (error === undefined) resolve(value)
      else reject(error)
    })
  }

  #hear() {
    this.said = new Promise((resolve) => {
      this.#saidLast = resolve
    })
  }

  /** Resolves to the result of `code`, the body of an async function, in the worker. */
  does(code) {
    const id = ++this.#last
    const names = 'const { AutoResetEvent, ConditionVariable, KeyedMutex, KeyedSemaphore,'
    const head = `${names} ManualResetEvent, Mutex, Semaphore } = boxoffice;`
    this.worker.postMessage({ id, code: head + code })
    return new Promise((resolve, reject) => this.#steps.set(id, { resolve, reject }))
  }

  /** Runs `code`, which calls say() and then blocks. Resolves to the argument of say(). */
  async begins(code) {
    const { said } = this
    const done = this.does(code)
    return { said: await said, done }
  }

  async dies() {
    this.worker.terminate()
    await this.#ended
  }
}

/** Agents for the tests of a describe: they end with each test. */
function useAgents() {
  let all = []
  afterEach(() => {
    const ends = all.map((agent) => agent.dies())
    all = []
    return Promise.all(ends)
  })
  return (workerData) => {
    all.push(new Agent(workerData))
    return all.at(-1)
  }
}

let names = 0
/** A unique name. */
const freshName = () => `test ${process.pid} ${++names}`

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The outcome of `promise`; rejects if it has not settled after `ms`. */
function within(ms, promise) {
  let timer
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not settled within ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

module.exports = { freshName, sleep, useAgents, within }
