'use strict'
// Workers terminated while they hold, wait, or are being admitted.
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { Mutex } = require('../..')
const { run } = require('../helpers/processes.js')
const { skip } = require('../helpers/skip.js')
const { startWorker } = require('../helpers/workers.js')

const rounds = 60
const tasks = 20

/** Acquires it, and returns whether it was abandoned; fails when it is never admitted. */
async function visit(mutex) {
  const release = await mutex.acquire({ timeout: 10_000 })
  const { abandoned } = release
  release()
  return abandoned
}

describe('a worker that is terminated', () => {
  it('gives up its holds and waits, whatever it is doing', async function () {
    this.timeout(120_000)
    const mutex = new Mutex({ shared: true })
    const { buffer } = mutex
    let abandoned = 0
    for (let round = 0; round < rounds; round++) {
      const worker = startWorker(
        `const mutex = new Mutex({ buffer: workerData })
         async function hold() {
           for (;;) {
             const release = await mutex.acquire()
             setImmediate(release)
           }
         }
         for (let i = 0; i < ${tasks}; i++) hold()
         parentPort.postMessage('at work')`,
        buffer,
      )
      await once(worker, 'message')
      for (let i = 0; i < 5; i++) await visit(mutex)
      const ended = once(worker, 'exit')
      worker.terminate()
      abandoned += await visit(mutex)
      await ended
      abandoned += await visit(mutex)
      assert.equal(mutex.isLocked(), false)
    }
    assert.equal(Atomics.load(new Int32Array(buffer), 0), 0)
    // How many of them held it is chance; the next test makes sure.
    assert.ok(abandoned <= rounds, `${abandoned} of ${rounds} died holding it`)
  })

  it('is reported once, when it held for certain', async () => {
    const mutex = new Mutex({ shared: true })
    const worker = startWorker(
      `new Mutex({ buffer: workerData }).lockSync()
       parentPort.postMessage('locked')
       setInterval(() => {}, 1000)`,
      mutex.buffer,
    )
    await once(worker, 'message')
    const waiting = mutex.acquire()
    const ended = once(worker, 'exit')
    worker.terminate()
    const release = await waiting
    assert.equal(release.abandoned, true)
    release()
    await ended
    assert.equal(await visit(mutex), false)
  })

  it('leaves no memory behind that Node.js has allocated for its wake-ups', async function () {
    this.timeout(60_000)
    // Node.js 20 and 22 free it in any case.
    const { stdout } = spawnSync('g++', ['-print-file-name=liblsan.so'], { encoding: 'utf8' })
    const sanitizer = stdout?.trim() ?? ''
    if (!path.isAbsolute(sanitizer)) skip(this, 'there is no LeakSanitizer')
    if (process.env.LD_PRELOAD) skip(this, 'it runs under another sanitizer')
    const code = `
      const { once } = require('node:events')
      const { Worker } = require('node:worker_threads')
      const work = 'new (require(' + ${JSON.stringify(JSON.stringify(require.resolve('../..')))} + ').Mutex)({ shared: true })'
      async function main() {
        for (let i = 0; i < 20; i++) await once(new Worker(work, { eval: true }), 'exit')
      }
      main()`
    const env = { LD_PRELOAD: sanitizer, LSAN_OPTIONS: 'exitcode=0' }
    const { code: status, stderr } = await run(['-e', code], { env })
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(stderr, /napi_create_threadsafe_function/)
  })
})
