'use strict'
// Processes that run the tests' code, step by step: `await host.does('await mutex.lock()')`.
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, renameSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { isSupported } = require('./host_support.js')
const { stop, withoutLeaks } = require('./processes.js')

const body = path.join(__dirname, 'host_body.js')

class Host {
  #steps = new Map()
  #last = 0
  #ended

  constructor(directory, env, options) {
    this.child = fork(body, [], {
      env: { ...process.env, ...withoutLeaks, BOXOFFICE_DIRECTORY: directory, ...env },
      serialization: 'advanced',
      ...options,
    })
    this.pid = this.child.pid
    this.#ended = once(this.child, 'exit')
    this.child.on('message', ({ id, value, error }) => {
      const { resolve, reject } = this.#steps.get(id)
      this.#steps.delete(id)
      if (error === undefined) resolve(value)
      else reject(error)
    })
  }

  /**
   * Resolves to the result of `code`, the body of an async function, there; `my` is kept from step
   * to step.
   */
  does(code) {
    const id = ++this.#last
    this.child.send({ id, code })
    return new Promise((resolve, reject) => this.#steps.set(id, { resolve, reject }))
  }

  /** By SIGSTOP. */
  stops() {
    return stop(this.pid)
  }

  /** By SIGKILL, by default. */
  async dies(signal = 'SIGKILL') {
    this.child.kill(signal)
    return this.ends()
  }

  /** How it ends: [code, signal]. */
  ends() {
    return this.#ended
  }
}

/**
 * This process's wake-up thread may still be cleaning up after the last death, and create a file
 * for that.
 */
function removeDirectory(directory) {
  // No file is created under a renamed directory. `rmSync` alone lists the files once, and fails
  // when there is a new one.
  const gone = `${directory}.gone`
  renameSync(directory, gone)
  rmSync(gone, { recursive: true, force: true })
}

/**
 * A process that is about to learn of the removal may still add a file, so retry if the directory
 * is not empty.
 */
function removeAll(directory) {
  try {
    rmSync(directory, { recursive: true })
  } catch (error) {
    if (error.code !== 'ENOTEMPTY') throw error
    removeAll(directory)
  }
}

/** For the tests of a describe: their own directory, and processes that end with each test. */
function useHosts() {
  const hosts = []
  const places = {}
  before(function () {
    if (!isSupported) this.skip()
    places.directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
  })
  afterEach(async () => {
    const all = hosts.splice(0)
    for (const { child } of all) child.kill('SIGCONT')
    await Promise.all(all.map((host) => host.dies()))
  })
  after(() => {
    if (places.directory !== undefined) removeDirectory(places.directory)
  })
  return {
    /** The directory of the locks. */
    get directory() {
      return places.directory
    },
    /** `options` are those of fork. */
    start(env, options) {
      hosts.push(new Host(places.directory, env, options))
      return hosts.at(-1)
    },
  }
}

module.exports = { Host, removeAll, removeDirectory, useHosts }
