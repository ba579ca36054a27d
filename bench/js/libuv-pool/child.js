// node child.js <kit> <waits> <reads>: reads a small file repeatedly, before and while other
// callers wait for a held lock. Only then does the holder release, after a read of its own. Reports
// each step on a line of JSON.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { readFile } = require('node:fs/promises')
const path = require('node:path')
const { Worker } = require('node:worker_threads')

const warmUp = 300
const entry = path.join(__dirname, '../../..')
const addon = path.join(entry, 'build/libuv-pool/libuv_waits.node')
const smallFile = path.join(entry, 'package.json')

/** Held locks: wait() returns a promise, and letGo(n) makes the holder release. */
const kits = {
  async boxoffice() {
    const { Mutex } = require(entry)
    const mutex = new Mutex({ shared: true })
    const holder = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
       const { readFile } = require('node:fs/promises')
       const { Mutex } = require(workerData.entry)
       const mutex = new Mutex({ buffer: workerData.buffer })
       mutex.lockSync()
       parentPort.once('message', async (file) => {
         await readFile(file)
         mutex.unlock()
       })
       parentPort.postMessage('held')`,
      { eval: true, workerData: { entry, buffer: mutex.buffer } },
    )
    await once(holder, 'message')
    return {
      async wait() {
        const release = await mutex.acquire()
        release()
      },
      letGo: () => holder.postMessage(smallFile),
    }
  },

  async libuv() {
    const { wait, signal } = require(addon)
    return {
      wait,
      async letGo(count) {
        await readFile(smallFile)
        signal(count)
      },
    }
  },
}

async function main(kit, count, reads) {
  const { wait, letGo } = await kits[kit]()
  for (let i = 0; i < warmUp; i++) await readFile(smallFile)
  await readAll('before', reads)
  let granted = 0
  const waits = Array.from({ length: count }, async () => {
    await wait()
    granted++
  })
  await readAll('during', reads)
  assert.equal(granted, 0, 'all of them have been waiting all the time')
  await letGo(count)
  await Promise.all(waits)
  say({ granted })
}

async function readAll(when, reads) {
  for (let i = 0; i < reads; i++) {
    const start = performance.now()
    await readFile(smallFile)
    say({ [when]: performance.now() - start })
  }
}

/** Uses no thread of libuv's pool: output counts even if the process is killed later. */
function say(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}

const [kit, count, reads] = process.argv.slice(2)
main(kit, Number(count), Number(reads))
