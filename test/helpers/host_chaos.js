'use strict'
// Processes visit rooms behind locks of scope host while some of them are killed; a witness outside
// of the locks records them.
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const boxoffice = require('../..')
const { linesOf, pen, read } = require('./host_witness')
const { removeDirectory } = require('./hosts')

const visitor = require.resolve('./host_visitor')
const capacities = { mutex: 1, rw: 1000, semaphore: 3 }

/** As `promise`; after a minute it rejects, and the error says what this process has heard of the other one. */
async function inTime(promise, { who, child, heard }, what) {
  const timer = new AbortController()
  const late = async () => {
    await sleep(60_000, undefined, { signal: timer.signal })
    throw new Error(
      `process ${who} (pid ${child.pid}) did not ${what} within a minute. Heard of it: ${heard.join(', ')}`,
    )
  }
  try {
    return await Promise.race([promise, late()])
  } finally {
    timer.abort()
  }
}

class Chaos {
  #directory = fs.mkdtempSync(path.join(os.tmpdir(), 'boxoffice-chaos-'))
  #file = path.join(this.#directory, 'witness')
  #parent
  #alive = new Map() // process number ─▶ { child, ended }
  #count = 0
  #plan
  #suicides = false
  #isOver = false
  /** Processes that died by a signal this test had not sent: by a kill point. */
  suicides = []
  /** Failures of processes that ended by themselves. */
  faults = []

  /** `plan`: { kind, keys, capacity, promises, blocking }. */
  constructor(plan) {
    this.#parent = pen(this.#file, 'parent')
    this.#plan = { kind: 'mutex', promises: 4, blocking: true, ...plan }
  }

  /**
   * Starts one more process, with `env` in addition to its environment. `wrap` is a program to run
   * it by, with arguments.
   */
  start({ env = {}, wrap = [] } = {}) {
    if (this.#isOver) throw new Error('this test is over')
    const who = ++this.#count
    const plan = {
      ...this.#plan,
      who,
      seed: who,
      name: 'chaos',
      directory: path.join(this.#directory, 'locks'),
      file: this.#file,
    }
    const options = { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }
    if (wrap.length > 0) {
      options.execPath = wrap[0]
      options.execArgv = [...wrap.slice(1), process.execPath]
    }
    const child = fork(visitor, [JSON.stringify(plan)], options)
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    const one = { who, child, killed: false, asked: false, heard: [] }
    for (const event of ['spawn', 'message', 'disconnect', 'exit', 'close'])
      child.once(event, () => one.heard.push(event))
    const closed = new Promise((resolve) => child.once('close', resolve))
    const isIn = new Promise((resolve) => child.once('message', resolve))
    one.ready = inTime(Promise.race([isIn, closed]), one, 'be in a room')
    one.ended = new Promise((resolve) => {
      const end = (code, signal) => {
        if (!this.#alive.delete(who)) return
        this.#write(who, 'gone')
        const bySignal = signal === 'SIGKILL' || code === 137
        one.suicide = bySignal && !one.killed && this.#suicides
        if (one.suicide) this.suicides.push(env.BOXOFFICE_KILL)
        else if (!bySignal && !(one.asked && code === 0)) {
          this.faults.push(`${who} ended with ${code ?? signal}: ${stderr}`)
        } else if (bySignal && !one.killed)
          this.faults.push(`${who} was killed, but not by this test`)
        resolve(one)
      }
      // With 'close' all of stderr has come. Under Wine the pipes of a killed process may stay open.
      child.once('exit', (code, signal) => {
        if (!one.killed) return
        child.stderr.destroy()
        if (child.connected) child.disconnect()
        end(code, signal)
      })
      child.once('close', end)
    })
    if (env.BOXOFFICE_KILL) this.#suicides = true
    this.#alive.set(who, one)
    return one
  }

  #write(who, what) {
    const one = pen(this.#file, who)
    one.note(what)
    one.close()
  }

  get alive() {
    return [...this.#alive.values()]
  }

  /** How often a process has entered so far. */
  entries() {
    return linesOf(this.#file).filter(([, , what]) => what === '+').length
  }

  async kill(one) {
    one.killed = true
    this.#write(one.who, 'killed')
    one.child.kill('SIGKILL')
    await inTime(one.ended, one, 'end')
  }

  /** Ends those that a failed test has left, and starts no more: they keep this process alive. */
  abandon() {
    this.#isOver = true
    for (const { child } of this.alive) child.kill('SIGKILL')
  }

  /** Tells all to stop, and waits. A process that does not stop is stuck. */
  async finish(most = 30_000) {
    for (const one of this.alive) {
      one.asked = true
      if (one.child.connected) one.child.send('stop')
    }
    const timer = new AbortController()
    await Promise.race([
      Promise.all(this.alive.map((one) => one.ended)),
      sleep(most, undefined, { signal: timer.signal }).catch(() => {}),
    ])
    timer.abort()
    for (const one of this.alive) {
      this.faults.push(`${one.who} waits for ever`)
      await this.kill(one)
    }
  }

  /**
   * Tells all to stop, and returns the witness's report, which must have no fault. Nor may a lock
   * have been free for five seconds while a process waited, unless the whole machine stalled
   * (`stalled`: of watchStalls). A shorter time may be an invited process that does not get to run;
   * a process that lost its wake-up waits for ever.
   */
  async expectClean(stalled) {
    await this.finish()
    const most = stalled ? 5_000_000 + 1000 * stalled() : Number.POSITIVE_INFINITY
    const report = await this.report()
    assert.deepEqual(report.faults, [])
    assert.ok(report.longestStuck < most, `${report.stuck} for ${report.longestStuck} us`)
    return report
  }

  /** The witness's report with all faults. After that no process may hold a lock. */
  async report() {
    this.#parent.close()
    const seen = read(this.#file, {
      capacity: capacities[this.#plan.kind],
      suicides: this.#suicides,
    })
    seen.faults.unshift(...this.faults)
    await this.#expectEmpty(seen.faults)
    removeDirectory(this.#directory)
    return seen
  }

  /**
   * Acquires each lock as a whole, which also collects reports of deaths. Then the lock must be as
   * at first.
   */
  async #expectEmpty(faults) {
    const { kind, keys, capacity } = this.#plan
    const directory = path.join(this.#directory, 'locks')
    const options = { scope: 'host', name: 'chaos', directory, capacity }
    const takes = {
      mutex: (locks) => (key) => locks.acquire(key, { timeout: 5000 }),
      rw: (locks) => (key) => locks.acquireWrite(key, { timeout: 5000 }),
      semaphore: (locks) => async (key) => (await locks.acquire(key, 3, { timeout: 5000 }))[1],
    }
    const makes = {
      mutex: () => new boxoffice.KeyedMutex(options),
      rw: () => new boxoffice.KeyedRWLock(options),
      semaphore: () => new boxoffice.KeyedSemaphore(3, options),
    }
    const locks = makes[kind]()
    const take = takes[kind](locks)
    for (let i = 0; i < keys; i++) {
      try {
        const release = await take(`k${i}`)
        release()
      } catch (error) {
        faults.push(`k${i} cannot be had: ${error.message}`)
        return
      }
    }
    if (locks.size !== 0) faults.push(`not as at first: ${[...locks.keys()].slice(0, 10)}`)
  }
}

module.exports = { Chaos }
