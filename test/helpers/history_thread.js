'use strict'
// The operations of one thread on a lock while its history is recorded. Run by the main thread and,
// through startPlaying, by workers.
const { Worker } = require('node:worker_threads')
const { Recorder } = require('./history.js')
const { kinds } = require('./shared_locks.js')

const tasks = 20
/** How many requests a blocking thread may be ahead of the main thread. */
const lead = 1000
const turn = () => new Promise(setImmediate)
const expected = new Set(['ERR_LOCK_TIMEOUT', 'ERR_LOCK_CANCELED', 'ERR_LOCK_UPGRADE', 'aborted'])

class Thread {
  #kind
  #lock
  #recorder
  #ways
  #counts
  #thread
  #target
  #random

  /** `counts` is the number of ended requests of each thread, up to `target`. */
  constructor({ kind, at, clock, log, counts, thread, target }) {
    this.#kind = kinds[kind]
    this.#lock = this.#kind.find(at)
    this.#recorder = new Recorder({ clock, log })
    this.#ways = Object.values(this.#kind.ways)
    this.#counts = counts
    this.#thread = thread
    this.#target = target
    this.#random = thread + 1
  }

  /** An integer below `limit`: the same sequence in each run. */
  #some(limit) {
    this.#random = (Math.imul(this.#random, 1103515245) + 12345) & 0x7fffffff
    return (this.#random >> 8) % limit
  }

  #weight() {
    const { weights } = this.#kind
    return weights[this.#some(weights.length)]
  }

  #isOver() {
    return Atomics.load(this.#counts, this.#thread) >= this.#target
  }

  #ended() {
    Atomics.add(this.#counts, this.#thread, 1)
  }

  /** How to wait: mostly without a limit. */
  #limits() {
    const priority = this.#some(4) === 0 ? 1 + this.#some(2) : 0
    const kind = this.#some(40)
    if (kind > 5) return kind > 20 ? undefined : { priority }
    if (kind > 4) return { priority, timeout: this.#some(3) }
    const controller = new AbortController()
    const end = () => {
      // Meanwhile other threads admit this one, which reads the completions too late as well.
      for (let i = this.#some(20_000); i > 0; i--);
      controller.abort('aborted')
    }
    setImmediate(end)
    return { priority, signal: controller.signal }
  }

  async #visit() {
    const { enter, isOrdered } = this.#ways[this.#some(this.#ways.length)]
    const weight = this.#weight()
    const limits = this.#limits()
    const request = this.#recorder.request(weight, { ...limits, isOrdered })
    let isIn = false
    let waited = false
    let release
    try {
      const promise = enter(this.#lock, weight, limits)
      promise.then(
        () => {
          isIn = true
        },
        () => {},
      )
      // One microtask later than the call: long enough for a caller that was admitted at once, and
      // no longer.
      await null
      waited = !isIn
      release = this.#kind.releaseOf(await promise)
    } catch (error) {
      this.#giveUp(request, error)
      return
    }
    this.#recorder.acquire(request, waited)
    if (this.#some(100) === 0) await turn()
    if (this.#isToUpgrade(release)) release = await this.#upgrade(release)
    this.#leave(request, release)
  }

  #isToUpgrade(release) {
    return release.upgrade !== undefined && this.#some(8) === 0
  }

  /**
   * Takes a writer's surplus over a reader, and puts it back. Returns the function that releases
   * the read.
   */
  async #upgrade(reader) {
    const { priority, ...limits } = this.#limits() ?? {}
    const more = this.#recorder.request(this.#kind.upgradeWeight)
    let writer
    try {
      writer = await reader.upgrade(limits)
    } catch (error) {
      this.#giveUp(more, error)
      return reader
    }
    return this.#downgrade(more, writer)
  }

  /** The same without await: `upgrade` returns a writer, or undefined, or throws. */
  #upgradeNow(reader, upgrade) {
    const more = this.#recorder.request(this.#kind.upgradeWeight)
    let writer
    try {
      writer = upgrade(reader)
    } catch (error) {
      this.#giveUp(more, error)
      return reader
    }
    if (writer !== undefined) return this.#downgrade(more, writer)
    this.#giveUp(more, 'aborted')
    return reader
  }

  #downgrade(more, writer) {
    this.#recorder.acquire(more, false)
    for (let i = this.#some(100); i > 0; i--);
    this.#recorder.release(more)
    this.#ended()
    return this.#some(2) === 0 ? writer.downgrade() : writer
  }

  #visitNow(enter, upgrade) {
    const weight = this.#weight()
    const request = this.#recorder.request(weight)
    let release
    try {
      release = enter(weight)
    } catch (error) {
      this.#giveUp(request, error)
      return
    }
    if (release === undefined) {
      this.#giveUp(request, 'aborted')
      return
    }
    this.#recorder.acquire(request, false)
    for (let i = this.#some(200); i > 0; i--);
    if (this.#isToUpgrade(release)) release = this.#upgradeNow(release, upgrade)
    this.#leave(request, release)
  }

  #leave(request, release) {
    this.#recorder.release(request)
    release()
    this.#ended()
  }

  #giveUp(request, error) {
    if (!expected.has(error.code ?? error)) throw error
    this.#recorder.giveUp(request)
    this.#ended()
  }

  /** Blocking calls are so much faster that they would end before the others begin. */
  #waitForMain() {
    const pause = new Int32Array(new SharedArrayBuffer(4))
    const count = Atomics.load(this.#counts, this.#thread)
    while (count > Atomics.load(this.#counts, 0) + lead) Atomics.wait(pause, 0, 0, 1)
  }

  #visitSync() {
    const timeout = this.#syncTimeout()
    this.#visitNow(
      (weight) => this.#kind.enterSync(this.#lock, weight, { timeout }),
      (reader) => reader.upgradeSync({ timeout: this.#syncTimeout() }),
    )
  }

  #syncTimeout() {
    return [Infinity, Infinity, Infinity, 0, 0.02, 1][this.#some(6)]
  }

  #tryVisit() {
    this.#visitNow(
      (weight) => this.#kind.tryEnter(this.#lock, weight),
      (reader) => reader.tryUpgrade(),
    )
  }

  async async(most = Infinity, cancels = false) {
    const task = async () => {
      for (let i = 1; i <= most && !this.#isOver(); i++) {
        await this.#visit()
        if (i % 16 === 0) {
          this.#tryVisit()
          await turn()
        }
        if (cancels && this.#some(2000) === 0) this.#lock.cancel()
      }
    }
    await Promise.all(Array.from({ length: tasks }, task))
  }

  async sync(most = Infinity) {
    for (let i = 0; i < most && !this.#isOver(); i++) {
      this.#visitSync()
      if (i % 100 === 0) this.#waitForMain()
    }
  }

  /** Both, but not at once: lockSync refuses to wait behind a promise of its own thread. */
  async mixed() {
    while (!this.#isOver()) {
      await this.async(20)
      await this.sync(200)
    }
  }
}

/** Plays `role`: async, sync or mixed. The main thread also cancels now and then. */
function play(data) {
  return new Thread(data)[data.role](Infinity, data.cancels)
}

/** Plays it in a worker. */
function startPlaying(data) {
  return new Worker(
    `require(${JSON.stringify(__filename)}).play(require('worker_threads').workerData)`,
    {
      eval: true,
      workerData: data,
    },
  )
}

module.exports = { play, startPlaying, tasks }
