'use strict'
// The addon, loaded by the main thread and 16 workers in any order, and by two copies of the
// package in one process. Each case is a process of its own.
const assert = require('node:assert/strict')
const { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { run } = require('../helpers/processes.js')

const root = path.join(__dirname, '..', '..')
const binary = path.resolve(
  process.env.BOXOFFICE_BINARY || path.join(root, 'build', 'release', 'boxoffice.node'),
)
const rounds = 300

// In each thread: increments a counter behind the lock, without atomics.
const counting = `
  async function count(copy, { buffer, at }, blocks) {
    const { Mutex } = require(copy)
    const mutex = new Mutex({ buffer, byteOffset: 8 * at })
    const words = new Int32Array(buffer)
    for (let i = 0; i < ${rounds}; i++) {
      if (blocks && i % 2 === 0) mutex.lockSync()
      else await mutex.lock()
      words[2 * at + 1]++
      mutex.unlock()
      if (i % 10 === 0) await new Promise(setImmediate)
    }
  }`

/**
 * Runs `code` in a process with `copies` of the package, with `start(copies, blocks)`: a worker
 * that counts with each of them, by the index of its copy. `ends` resolves when all workers have
 * ended, and `counted(copy)` is the result.
 */
async function inProcess(copies, code) {
  const script = `'use strict'
    const { Worker } = require('node:worker_threads')
    const { once } = require('node:events')
    const copies = ${JSON.stringify(copies)}
    const buffer = new SharedArrayBuffer(8 * copies.length)
    const show = (value) => console.log(JSON.stringify(value))
    const counted = (copy) => new Int32Array(buffer)[2 * copy + 1]
    const isMapped = () => process.platform !== 'linux' ||
      require('node:fs').readFileSync('/proc/self/maps', 'utf8').includes('boxoffice.node')
    ${counting}
    const all = []
    const start = (which = [0], blocks = all.length % 2 === 0) => {
      const worker = new Worker(\`
        const { workerData } = require('node:worker_threads')
        \${count}
        const { copies, which, buffer, blocks } = workerData
        Promise.all(which.map((at) => count(copies[at], { buffer, at }, blocks)))\`,
        { eval: true, workerData: { copies, which, buffer, blocks } })
      all.push(once(worker, 'exit'))
    }
    const startMany = (many, ...args) => { for (let i = 0; i < many; i++) start(...args) }
    const ends = async () => { for (const [code] of await Promise.all(all.splice(0))) if (code) throw code }
    async function main() { ${code} }
    main().catch((error) => { console.error(error); process.exit(70) })`
  const child = await run(['-e', script])
  const { code: status, signal, stderr, shown } = child
  assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: '' })
  return shown
}

describe('the addon, loaded', function () {
  this.timeout(60_000)
  const ours = (at) => `count(copies[${at}], { buffer, at: ${at} }, false)`
  const orders = {
    'by 16 workers, and never by the main thread': 'startMany(16); await ends()',
    'by 16 workers, and then by the main thread': `startMany(16); await ends(); await ${ours(0)}`,
    'by the main thread, and then by 16 workers': `await ${ours(0)}; startMany(16); await ends()`,
    'by all threads at once': `startMany(8); const mine = ${ours(0)}; startMany(8); await mine; await ends()`,
    'by workers that end before others begin': `
      for (let i = 0; i < 4; i++) {
        startMany(4)
        await ends()
        if (!isMapped()) throw new Error('the addon has been unmapped')
      }`,
    'by one worker after the other': 'for (let i = 0; i < 16; i++) { start(); await ends() }',
    'by workers, and last by the main thread, which stays': `
      startMany(8); await ends(); const mine = ${ours(0)}; startMany(8); await mine; await ends()`,
  }
  for (const [name, code] of Object.entries(orders)) {
    it(`${name}, locks`, async () => {
      const threads = code.includes('count(') ? 17 : 16
      assert.deepEqual(await inProcess([root], `${code}\nshow(counted(0))`), [threads * rounds])
    })
  }
})

describe('a copy of the package beside it', function () {
  this.timeout(60_000)
  let copy
  before(() => {
    copy = mkdtempSync(path.join(tmpdir(), 'boxoffice-'))
    const build = path.join(copy, 'build', 'release')
    mkdirSync(build, { recursive: true })
    cpSync(binary, path.join(build, 'boxoffice.node'))
    for (const name of ['lib', 'package.json']) {
      cpSync(path.join(root, name), path.join(copy, name), { recursive: true })
    }
    assert.ok(existsSync(path.join(copy, 'lib', 'index.js')))
  })
  after(() => rmSync(copy, { recursive: true }))

  const both = `Promise.all([0, 1].map((at) => count(copies[at], { buffer, at }, false)))`
  const orders = {
    'in the main thread': [`await ${both}`, 1],
    'in workers, each with both': ['startMany(6, [0, 1], false); await ends()', 6],
    // Only one copy blocks: two that block for one lock while each has been granted the other would
    // deadlock.
    'in workers, each with both, one blocking': [
      'start([0, 1], true); startMany(5, [0, 1], false); await ends()',
      6,
    ],
    'in workers, each with one': ['startMany(4, [0]); startMany(4, [1]); await ends()', 4],
    'in all threads at once': [`startMany(4, [0, 1], false); await ${both}; await ends()`, 5],
    'in workers that end, and then in the main thread': [
      `startMany(3, [1]); await ends(); startMany(3, [0]); await ends(); await ${both}`,
      4,
    ],
  }
  for (const [name, [code, threads]] of Object.entries(orders)) {
    it(`works on its own ${name}`, async () => {
      const shown = await inProcess([root, copy], `${code}\nshow([counted(0), counted(1)])`)
      assert.deepEqual(shown, [[threads * rounds, threads * rounds]])
    })
  }

  it('passes on the locks of its dead threads, as the first one does', async () => {
    const shown = await inProcess(
      [root, copy],
      `for (const at of copies.keys()) {
        const { Mutex } = require(copies[at])
        const mutex = new Mutex({ shared: true })
        const worker = new Worker(
          \`const { workerData: [copy, buffer] } = require('node:worker_threads')
           new (require(copy).Mutex)({ buffer }).lockSync()\`,
          { eval: true, workerData: [copies[at], mutex.buffer] })
        await once(worker, 'exit')
        show((await mutex.acquire()).abandoned)
      }`,
    )
    assert.deepEqual(shown, [true, true])
  })
})
