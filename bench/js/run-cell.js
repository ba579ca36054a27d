// Installs the peers and runs cells, each in a process of its own.
const { execFile } = require('node:child_process')
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')

const { isOnNode24, node24 } = require('./node24.js')
const { npmInstall } = require('./npm.js')
const { dependencies } = require('./package.json')

/** Only the benches depend on the peers: they are installed here, if missing. */
function installPeers() {
  if (Object.entries(dependencies).every(([name, version]) => installed(name) === version)) return
  console.error('Installing the peers into bench/js/node_modules ...')
  npmInstall(__dirname)
}

function installed(name) {
  try {
    return JSON.parse(readFileSync(path.join(__dirname, 'node_modules', name, 'package.json')))
      .version
  } catch {
    return undefined
  }
}

/** The cell's result; null if the kit cannot do the work, undefined if it took too long. `ours` is another checkout. */
async function runCell(row, kit, { size, timeout, ours }) {
  const args = ['--expose-gc', path.join(__dirname, 'cell.js'), row, kit]
  if (size !== undefined) args.push(`${size}`)
  const node = isOnNode24(kit) ? node24() : process.execPath
  const env = ours ? { ...process.env, BOXOFFICE_BENCH_OURS: ours } : process.env
  try {
    const { stdout } = await promisify(execFile)(node, args, { timeout, env })
    return JSON.parse(stdout)
  } catch (error) {
    if (error.killed) return undefined
    throw new Error(`${row} by ${kit} failed: ${error.message}`)
  }
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

module.exports = { installPeers, progress, runCell }
