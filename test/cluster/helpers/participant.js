'use strict'
// A process of its own with an engine, which a test tells what to do: see participants.js.
const { appendFileSync, closeSync, openSync, unlinkSync } = require('node:fs')
const { join } = require('node:path')
const { KeyedMutex } = require('../../..')
const { Engine } = require('../../../lib/cluster/engine.js')

const { connector, port, options, clockOff } = JSON.parse(process.argv[2])
if (clockOff !== 0) {
  const now = Date.now
  Date.now = () => now() + clockOff
}

const held = new Map()
let mutex

const does = {
  /** Whoever is in blocks at once for so long: no promise, timer or connection of this thread gets on meanwhile. */
  async acquire({ key, timeout, block = 0 }) {
    const release = await mutex.acquire(key, { timeout })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, block)
    held.set(key, release)
    const { fencingToken, abandoned } = release
    return { token: `${fencingToken}`, abandoned }
  },
  async release({ key }) {
    held.get(key)()
  },
  async token({ key }) {
    const { fencingToken, signal } = held.get(key)
    return { token: `${fencingToken}`, isLost: signal.aborted, code: signal.reason?.code }
  },
  /**
   * Takes one of `keys` again and again, for so long, by so many at once. Files in `folder` are witnesses: nobody else
   * is in, and each token is written down.
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
  mutex = new KeyedMutex({ engine: new Engine(connection.driver(), options) })
  // From here on one command is all that it takes.
  await mutex.runExclusive(`${process.pid}`, () => {})
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
