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

/** The values in the lines of `stdout`, each of which is JSON. */
function valuesOf(stdout) {
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      try {
        return JSON.parse(line)
      } catch (cause) {
        throw new Error(`the process printed a line that is not JSON: ${line}`, { cause })
      }
    })
}

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
      try {
        resolve({ code, signal, shown: valuesOf(stdout), stderr, late: performance.now() - last })
      } catch (error) {
        reject(error)
      }
    })
  })
}

/** `stderr` without what a thread says that ends with waits: test/process/pending_at_exit.test.js checks that. */
const withoutPending = (stderr) =>
  stderr.replaceAll(
    /^boxoffice: the event loop has run empty.*\n(?: {2}.*\n)+(?:set BOX.*\n)?/gm,
    '',
  )

/**
 * Code for a process or a worker: keptAlive() resolves if something else keeps the event loop alive
 * meanwhile; otherwise the loop ends first. So a test that releases a lock then fails each time a
 * wait does not keep its loop alive. The second timer is for a thread that stands still, in which
 * the first one may fire all the same.
 */
const keptAlive = `const keptAlive = () => new Promise((resolve) => {
  setTimeout(() => setTimeout(resolve, 20).unref(), 20).unref()
})`

/**
 * Runs `code` in an async function, with Mutex and RWLock, `mutex` (a shared one), `show(value)`
 * for output, `turn()`, `line()`, which resolves when a caller waits, and `start(code)`: a worker
 * with the same `mutex`, which resolves at its first message, and whose `ended` is a promise. The
 * thread that calls untilLetGo() blocks until letGo() of another one, for the second time with
 * untilLetGo(1). Output is written at once.
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
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const letGo = () => { Atomics.add(flag, 0, 1); Atomics.notify(flag, 0) }
    ${keptAlive}
    async function start(code) {
      const worker = new Worker(\`
        const { parentPort, workerData } = require('node:worker_threads')
        const { writeSync } = require('node:fs')
        const show = (value) => writeSync(1, JSON.stringify(value) + '\\\\n')
        const { Mutex, RWLock } = require(${JSON.stringify(entry)})
        const mutex = new Mutex({ buffer: workerData.buffer })
        const word = new Int32Array(workerData.buffer)
        const say = () => parentPort.postMessage('ready')
        const untilLetGo = (times = 0) => Atomics.wait(workerData.flag, 0, times)
        ${keptAlive}
        async function main() { \${code} }
        main()\`, { eval: true, workerData: { buffer: mutex.buffer, flag } })
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
  keptAlive,
  run,
  runCode,
  stop,
  withoutLeaks,
  withoutPending,
}
