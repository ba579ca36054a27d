'use strict'
// Two copies of the package in one process, as npm installs them for a server and one of its dependencies.
const assert = require('node:assert/strict')
const { cpSync, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { isSupported } = require('../helpers/host_support.js')
const ours = require('../..')

const root = path.join(__dirname, '..', '..')
const binary = process.env.BOXOFFICE_BINARY || path.join(root, 'build', 'release', 'boxoffice.node')
const rounds = 3000

/**
 * Enters and leaves all of them, and counts callers that were not alone. Run here and in a worker.
 */
async function visit({ Mutex, Semaphore, KeyedMutex, locks }, { buffer, seen }, rounds) {
  const mutex = new Mutex({ buffer })
  const named = new Mutex({ name: 'copies' })
  const one = new Semaphore(1, { name: 'copies' })
  const keys = new KeyedMutex({ name: 'copies' })
  const alone = (at) => () => {
    if (Atomics.add(seen, at, 1) !== 0) Atomics.add(seen, 4, 1)
    Atomics.sub(seen, at, 1)
  }
  for (let i = 0; i < rounds; i++) {
    await mutex.runExclusive(alone(0))
    await named.runExclusive(alone(1))
    await one.runExclusive(alone(2))
    await keys.runExclusive('a', alone(3))
    await locks.request('copies', alone(5))
    if (i % 16 === 0) await new Promise(setImmediate)
  }
}

describe('two copies of the package', () => {
  let directory
  let copy
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-copy-'))
    cpSync(path.join(root, 'lib'), path.join(directory, 'lib'), { recursive: true })
    cpSync(path.join(root, 'package.json'), path.join(directory, 'package.json'))
    copy = path.join(directory, 'boxoffice.node')
    cpSync(binary, copy)
  })
  after(() => rmSync(directory, { recursive: true }))

  /** The copy, which this thread can load, too. */
  const theirs = () => {
    const before = process.env.BOXOFFICE_BINARY
    process.env.BOXOFFICE_BINARY = copy
    try {
      const copied = require(path.join(directory, 'lib'))
      // The addon is loaded with the first lock of a wider scope.
      assert.ok(new copied.Mutex({ shared: true }).buffer)
      return copied
    } finally {
      if (before === undefined) delete process.env.BOXOFFICE_BINARY
      else process.env.BOXOFFICE_BINARY = before
    }
  }

  it('share their locks: by memory, by name, by key, by request', async () => {
    const seen = new Int32Array(new SharedArrayBuffer(24))
    const { buffer } = new ours.Mutex({ shared: true })
    const worker = new Worker(
      `const { workerData } = require('node:worker_threads')
       ;(${visit})(require(${JSON.stringify(path.join(directory, 'lib'))}), workerData, ${rounds})`,
      { eval: true, workerData: { buffer, seen }, env: { ...process.env, BOXOFFICE_BINARY: copy } },
    )
    const ended = once(worker, 'exit')
    await Promise.all([
      visit(ours, { buffer, seen }, rounds),
      visit(theirs(), { buffer, seen }, rounds),
    ])
    assert.deepEqual(await ended, [0])
    assert.deepEqual([...seen], [0, 0, 0, 0, 0, 0])
    assert.equal(new Int32Array(buffer)[0], 0)
  })

  it('recognize each other: one copy cannot unlock what the other holds', () => {
    const { buffer } = new ours.Mutex({ shared: true })
    const mutex = new ours.Mutex({ buffer })
    const other = new (theirs().Mutex)({ buffer })
    mutex.tryLock()
    assert.equal(other.tryLock(), false)
    assert.throws(() => other.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
    mutex.unlock()
    assert.ok(other.tryLock())
  })

  it('share their locks of scope host', async function () {
    if (!isSupported) this.skip()
    const options = { scope: 'host', name: 'copies', directory: path.join(directory, 'locks') }
    const mutex = new ours.Mutex(options)
    const same = new (theirs().Mutex)(options)
    const release = await mutex.acquire()
    assert.equal(same.tryLock(), false)
    const next = same.acquire()
    release()
    const second = await next
    assert.equal(mutex.isLocked(), true)
    second()
    assert.equal(mutex.isLocked(), false)
  })
})
