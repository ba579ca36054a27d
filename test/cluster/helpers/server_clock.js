'use strict'
// A clock of a server that tests set while it runs, by clock_ahead.c: on Linux for x86-64.
const { execFile } = require('node:child_process')
const {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { promisify } = require('node:util')
const programs = require('../../helpers/programs.js')

const run = promisify(execFile)

/** { env, set(seconds), close() }: the environment of the server, which may belong to another user. */
async function serverClock() {
  const folder = mkdtempSync(join(tmpdir(), 'boxoffice-clock-'))
  const file = join(folder, 'ahead')
  const library = join(folder, 'clock_ahead.so')
  const own = openSync(file, 'w')
  // In place: a server that reads its clock while its mapped file is truncated dies of SIGBUS.
  const write = (seconds) => writeSync(own, new BigInt64Array([BigInt(seconds), 0n]), 0, 16, 0)
  write(0)
  chmodSync(folder, 0o755)
  chmodSync(file, 0o666)
  const source = join(__dirname, 'clock_ahead.c')
  const args = ['-x', 'c', '-O2', '-shared', '-fPIC', '-o', library, source]
  await run(programs['a clock that tests can set'].find(), args)
  return {
    env: { LD_PRELOAD: library, BOXOFFICE_CLOCK: file },
    /** Sets the clock ahead, and resolves when the server has read it. */
    async set(seconds) {
      write(seconds)
      while (readFileSync(file).readBigInt64LE(8) === 0n) await sleep(10)
    },
    close() {
      closeSync(own)
      rmSync(folder, { recursive: true })
    },
  }
}

module.exports = { serverClock }
