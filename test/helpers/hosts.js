'use strict'
// Processes that run the tests' code, step by step: `await host.does('await mutex.lock()')`.
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { chmodSync, cpSync, mkdtempSync, renameSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { stop, withoutLeaks } = require('./processes.js')
const { isWindows } = require('./skip.js')

const root = path.join(__dirname, '..', '..')
const bodyFile = path.join('test', 'helpers', 'host_body.js')
const addonFile = path.join('build', 'release', 'boxoffice.node')

/** A copy in `place` of what a host runs, for another user: this checkout may lie in a folder of one user only. */
function copyCode(place) {
  for (const name of ['package.json', 'lib', bodyFile])
    cpSync(path.join(root, name), path.join(place, name), { recursive: true })
  const addon = path.resolve(root, process.env.BOXOFFICE_BINARY ?? addonFile)
  cpSync(addon, path.join(place, addonFile))
  return { cwd: place, env: { BOXOFFICE_BINARY: path.join(place, addonFile) } }
}

class Host {
  #steps = new Map()
  #last = 0
  #ended

  constructor(directory, env, { cwd = root, ...options } = {}) {
    this.child = fork(path.join(cwd, bodyFile), [], {
      cwd,
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
  // Windows keeps the files that this process has open.
  if (isWindows) return
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
  before(() => {
    places.directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
  })
  afterEach(async () => {
    const all = hosts.splice(0)
    if (!isWindows) for (const { child } of all) child.kill('SIGCONT')
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
    /** As the user with that id. Everyone can read the directory then, and a copy of the code in it. */
    startAs(id, env, options) {
      chmodSync(places.directory, 0o755)
      places.code ??= copyCode(path.join(places.directory, 'code'))
      const as = { uid: id, gid: id, cwd: places.code.cwd }
      return this.start({ ...places.code.env, ...env }, { ...as, ...options })
    },
  }
}

module.exports = { Host, removeAll, removeDirectory, useHosts }
