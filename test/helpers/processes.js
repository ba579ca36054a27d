'use strict'
// Processes of their own, for what can be seen from outside only: how they end.
const { spawn } = require('node:child_process')

const entry = require.resolve('../..')

/** How `node ...args` ends: { code, signal, shown, stderr, late }; `late` is ms since its last line. */
function run(args, { timeout = 60_000, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      timeout,
      killSignal: 'SIGKILL',
      env: { ...process.env, ...env },
    })
    let stdout = ''
    let stderr = ''
    let last = performance.now()
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk
      last = performance.now()
    })
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const lines = stdout.split('\n').filter(Boolean)
      const shown = lines.map((line) => JSON.parse(line))
      resolve({ code, signal, shown, stderr, late: performance.now() - last })
    })
  })
}

/**
 * Runs `code` in an async function, with Mutex and RWLock, `mutex` (a shared one), `show(value)` for
 * what is to be returned, `turn()`, `line()`: until somebody waits, and `start(code)`: a worker with the same
 * `mutex`, whose first message it waits for, and whose `ended` is a promise. Whatever is shown is written at once.
 */
function runCode(code, env) {
  const script = `'use strict'
    const { writeSync } = require('node:fs')
    const { once } = require('node:events')
    const { Worker } = require('node:worker_threads')
    const { Mutex, RWLock } = require(${JSON.stringify(entry)})
    const show = (value) => writeSync(1, JSON.stringify(value) + '\\n')
    const turn = () => new Promise(setImmediate)
    const mutex = new Mutex({ shared: true })
    const word = new Int32Array(mutex.buffer)
    const line = async () => { while ((Atomics.load(word, 0) & 1) === 0) await turn() }
    async function start(code) {
      const worker = new Worker(\`
        const { parentPort, workerData } = require('node:worker_threads')
        const { writeSync } = require('node:fs')
        const show = (value) => writeSync(1, JSON.stringify(value) + '\\\\n')
        const { Mutex, RWLock } = require(${JSON.stringify(entry)})
        const mutex = new Mutex({ buffer: workerData })
        const word = new Int32Array(workerData)
        const say = () => parentPort.postMessage('ready')
        const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
        async function main() { \${code} }
        main()\`, { eval: true, workerData: mutex.buffer })
      // From the start: a worker's first message and its exit may come in one turn of the event loop.
      worker.ended = once(worker, 'exit')
      await once(worker, 'message')
      return worker
    }
    async function main() { ${code} }
    main().catch((error) => { console.error(error); process.exit(70) })`
  return run(['-e', script], { timeout: 20_000, env })
}

module.exports = { run, runCode }
