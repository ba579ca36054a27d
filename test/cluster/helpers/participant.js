'use strict'
// A process of its own with an engine; tests send it commands: see participants.js.
const { appendFileSync, closeSync, openSync, unlinkSync } = require('node:fs')
const { join } = require('node:path')
const { KeyedMutex } = require('../../..')
const { Engine } = require('../../../lib/cluster/engine.js')
const { setTimeout: sleep } = require('node:timers/promises')
const { knownSession } = require('./known_ends.js')
const { warmUp } = require('./warm_up.js')

const { connector, port, options, clockOff } = JSON.parse(process.argv[2])
if (clockOff !== 0) {
  const now = Date.now
  Date.now = () => now() + clockOff
}

/** In milliseconds, by the clock that all processes of this machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e6

const { outside, sessionEnd } = knownSession()
const held = new Map()
let mutex
/** The number of requests that the server has queued. */
let waiting = 0

function noting(driver) {
  const enter = driver.enter.bind(driver)
  driver.enter = async (request) => {
    const answer = await enter(request)
    if (answer.state === 'waiting') waiting++
    return answer
  }
  return driver
}

/** No promise, timer or connection of this thread proceeds for so long. */
const blockFor = (time) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time)

const does = {
  /** A holder blocks at once for so long. */
  async acquire({ key, timeout, block = 0 }) {
    const release = await mutex.acquire(key, { timeout })
    blockFor(block)
    held.set(key, release)
    const { fencingToken, abandoned } = release
    return { token: `${fencingToken}`, abandoned, at: now() }
  },
  async block({ time }) {
    blockFor(time)
  },
  /** Answers when `key` is lost: when, why, and when the session was over by the clock of this process. */
  async lost({ key }) {
    const { signal } = held.get(key)
    let end
    // It is 0 as soon as the renewing thread knows of the loss.
    const look = () => {
      end = sessionEnd() || end
    }
    look()
    const timer = setInterval(look, 10)
    await new Promise((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', resolve)
    })
    look()
    clearInterval(timer)
    return { at: now(), end, why: signal.reason.message }
  },
  /** Answers when the session has been renewed. */
  async renewed() {
    const before = sessionEnd()
    while (sessionEnd() === before) await sleep(5)
  },
  /** Answers when the server has queued a request of this process, or has granted it `key`. */
  async queue({ key }) {
    while (waiting === 0 && !held.has(key)) await new Promise(setImmediate)
  },
  async release({ key }) {
    held.get(key)()
  },
  async token({ key }) {
    const { fencingToken, signal } = held.get(key)
    return { token: `${fencingToken}`, isLost: signal.aborted, code: signal.reason?.code }
  },
  /**
   * Acquires one of `keys` again and again, for so long, by so many tasks. Files in `folder` are
   * witnesses: no other holder is in, and each token is written down.
   */
  async history({ keys, time, workers, folder }) {
    const end = performance.now() + time
    let count = 0
    const work = async (i) => {
      for (let round = i; performance.now() < end; round++) {
        const key = keys[round % keys.length]
        const timeout = round % 7 === 0 ? 5 : undefined
        const release = await mutex.acquire(key, { timeout }).catch(ifLate)
        if (release === undefined) continue
        count++
        const path = join(folder, key)
        closeSync(openSync(`${path}.inside`, 'wx'))
        appendFileSync(path, `${release.fencingToken}\n`)
        if (round % 3 === 0) await new Promise(setImmediate)
        unlinkSync(`${path}.inside`)
        release()
      }
    }
    await Promise.all(Array.from({ length: workers }, (_, i) => work(i)))
    return { count }
  },
}

function ifLate(error) {
  // A server may need longer than that to answer at all.
  if (error.code !== 'ERR_LOCK_TIMEOUT' && error.code !== 'ERR_LOCK_ENGINE') throw error
}

async function main() {
  const { connect } = require(connector)
  const connection = await connect(port, options)
  mutex = new KeyedMutex({ engine: new Engine(noting(connection.driver()), options, outside) })
  // From here on a wait takes only one command.
  await warmUp(mutex)
  process.on('message', async ({ number, what, ...how }) => {
    try {
      process.send({ number, answer: (await does[what](how)) ?? {} })
    } catch (error) {
      process.send({ number, error: { code: error.code, message: error.message } })
    }
  })
  process.send({ number: 0, answer: {} })
}

main()
