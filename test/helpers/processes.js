'use strict'
// Child processes, for behaviour visible only from outside: how they end.
const { spawn } = require('node:child_process')
const { readdirSync, readFileSync } = require('node:fs')

const entry = require.resolve('../..')

/**
 * For the environment of a process that calls process.exit(): memory that Node has not freed then is no leak of this
 * library, and AddressSanitizer takes seconds to look for leaks.
 */
const withoutLeaks = { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:detect_leaks=0` }

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
 * Runs `code` in an async function, with Mutex and RWLock, `mutex` (a shared one), `show(value)`
 * for output, `turn()`, `line()`, which resolves when a caller waits, and `start(code)`: a worker
 * with the same `mutex`, which resolves at its first message, and whose `ended` is a promise.
 * Output is written at once.
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
      // Listen from the start: a worker's first message and its exit may come in one turn of the
      // event loop.
      worker.ended = once(worker, 'exit')
      await once(worker, 'message')
      return worker
    }
    async function main() { ${code} }
    main().catch((error) => { console.error(error); process.exit(70) })`
  return run(['-e', script], { timeout: 20_000, env })
}

/**
 * Stops a process by SIGSTOP. Resolves when each of its threads has stopped: until then they run, and
 * may answer or take a wake-up.
 */
async function stop(pid) {
  process.kill(pid, 'SIGSTOP')
  while (!readdirSync(`/proc/${pid}/task`).every((id) => isStopped(`/proc/${pid}/task/${id}`))) {
    await new Promise(setImmediate)
  }
}

function isStopped(thread) {
  try {
    // The state follows the program's name, which is in parentheses: stopped, or ended.
    return /\) [TZX] /.test(readFileSync(`${thread}/stat`, 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error
    return true // the thread has ended
  }
}

module.exports = {
  entry,
  run,
  runCode,
  stop,
  withoutLeaks,
}
