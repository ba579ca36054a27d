'use strict'
const { execFile } = require('node:child_process')
const { keptAlive, withoutLeaks } = require('./processes.js')

const entry = require.resolve('../..')
// The variable must exist, empty: child_process copies a missing one into `env` itself, which every
// child shares.
const env = {
  ...process.env,
  NODE_V8_COVERAGE: undefined,
  ...withoutLeaks,
}

/**
 * The output of a process of its own, with `flags`: `code` runs in an async function with the
 * package's exports, `keptAlive()`, `live()` for the bytes in use, `growth(round, most)` for the bytes
 * that a round adds, and `show(value)` for the output.
 */
function inChild(code, ...flags) {
  const script = `'use strict'
    const { KeyedMutex, KeyedSemaphore, Mutex, Semaphore } = require(${JSON.stringify(entry)})
    const { Worker } = require('node:worker_threads')
    const entry = ${JSON.stringify(entry)}
    const show = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
    const turn = () => new Promise(setImmediate)
    ${keptAlive}
    async function live() {
      // Finalizers run in turns of the event loop after the collection.
      for (let i = 0; i < 3; i++) { gc(); await turn(); await turn() }
      const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
      return { bytes: heapUsed + external + arrayBuffers, rss }
    }
    // A leak occurs in each round; memory that V8 and Node keep for themselves is added once or
    // twice.
    async function growth(round, mostBytes) {
      const least = { bytes: Infinity, rss: Infinity }
      for (let i = 0; i < 4 && least.bytes > mostBytes; i++) {
        const before = await live()
        await round(i)
        const after = await live()
        least.bytes = Math.min(least.bytes, after.bytes - before.bytes)
        least.rss = Math.min(least.rss, after.rss - before.rss)
      }
      return least
    }
    async function main() { ${code} }
    main().catch((error) => { console.error(error); process.exit(1) })`
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...flags, '-e', script],
      { timeout: 110_000, env },
      (error, stdout, stderr) => {
        if (error !== null) return reject(new Error(`the child failed: ${error.signal} ${stderr}`))
        resolve(
          stdout
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line)),
        )
      },
    )
  })
}

module.exports = { inChild }
