'use strict'
// A pgbouncer started by the tests, in front of a server at a port of loopback.
const { chownSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { owner } = require('./postgres_server.js')
const { freePort, serve } = require('./servers.js')

/** `mode` is 'session' or 'transaction', and `more` are lines of its settings. Resolves to { port, close() }. */
async function pgbouncer(to, mode, more = []) {
  const folder = mkdtempSync(join(tmpdir(), 'boxoffice-pgbouncer-'))
  const { uid, gid } = owner()
  chownSync(folder, uid, gid)
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    // All clients are one user there.
    `* = host=127.0.0.1 port=${to} user=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    ...more,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const wanted = "Debian's package pgbouncer"
  const child = await serve('/usr/sbin/pgbouncer', [file], port, { ...owner(), cwd: '/', wanted })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  return {
    port,
    async close() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}

module.exports = { pgbouncer }
