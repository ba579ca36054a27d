'use strict'
// Waits use no thread of libuv's pool: with one thread in it, other work goes on.
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { promisify } = require('node:util')

const waits = 10_000
const entry = require.resolve('../..')

// The holder also needs the pool before it releases.
const script = `'use strict'
  const { once } = require('node:events')
  const { readFile } = require('node:fs/promises')
  const { Worker } = require('node:worker_threads')
  const { Mutex } = require(${JSON.stringify(entry)})

  async function main() {
    const mutex = new Mutex({ shared: true })
    const holder = new Worker(
      \`const { once } = require('node:events')
        const { readFile } = require('node:fs/promises')
        const { parentPort, workerData } = require('node:worker_threads')
        const { Mutex } = require(workerData.entry)
        const mutex = new Mutex({ buffer: workerData.buffer })
        mutex.lockSync()
        parentPort.postMessage('held')
        once(parentPort, 'message')
          .then(() => readFile(workerData.entry))
          .then(() => mutex.unlock())\`,
      { eval: true, workerData: { entry: ${JSON.stringify(entry)}, buffer: mutex.buffer } },
    )
    await once(holder, 'message')
    let granted = 0
    const all = Array.from({ length: ${waits} }, async () => {
      const release = await mutex.acquire()
      granted++
      release()
    })
    let read = 0
    for (let i = 0; i < 20; i++) read += (await readFile(${JSON.stringify(entry)})).length > 0
    const grantedBefore = granted
    holder.postMessage('let go')
    await Promise.all(all)
    console.log(JSON.stringify({ read, grantedBefore, granted, locked: mutex.isLocked() }))
  }
  main().catch((error) => { console.error(error); process.exit(1) })`

describe("libuv's pool of one thread", () => {
  it(`reads files while ${waits} callers wait for a Mutex, and all are admitted`, async function () {
    this.timeout(60_000)
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
      timeout: 55_000,
      killSignal: 'SIGKILL',
    })
    assert.deepEqual(JSON.parse(stdout), {
      read: 20,
      grantedBefore: 0,
      granted: waits,
      locked: false,
    })
  })
})
