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
 * package's exports, `keptAlive()`, `collect()`, `live()` and `growth(round, most)` of heap.js, and
 * `show(value)` for the output.
 */
function inChild(code, ...flags) {
  const script = `'use strict'
    const { KeyedMutex, KeyedSemaphore, Mutex, RecursiveMutex, Semaphore } = require(${JSON.stringify(entry)})
    const { Worker } = require('node:worker_threads')
    const entry = ${JSON.stringify(entry)}
    const show = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
    const turn = () => new Promise(setImmediate)
    ${keptAlive}
    const { collect, growth, live } = require(${JSON.stringify(require.resolve('./heap.js'))})
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
