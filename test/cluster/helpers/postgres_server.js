'use strict'
// A PostgreSQL started by the tests: a cluster in a temporary folder, on a free port of loopback.
const { execFile, execFileSync } = require('node:child_process')
const {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { promisify } = require('node:util')
const { stop } = require('../../helpers/processes.js')
const { freePort } = require('./servers.js')

const run = promisify(execFile)
const debian = '/usr/lib/postgresql'

/** PostgreSQL refuses to run as root: then the user that Debian's package created runs it. */
function owner() {
  if (process.getuid() === 0) return { uid: idOf('-u'), gid: idOf('-g') }
  return { uid: process.getuid(), gid: process.getgid() }
}

function idOf(flag) {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

/** The folder of the programs. Debian does not put its newest server on the PATH. */
function programs() {
  if (process.env.BOXOFFICE_POSTGRES !== undefined) return process.env.BOXOFFICE_POSTGRES
  if (!existsSync(debian)) return ''
  const [newest] = readdirSync(debian).sort((a, b) => b - a)
  return join(debian, newest, 'bin')
}

/**
 * Runs `program` to its end, as the owner of the cluster. `within` are words before it, which only root can run; `env`
 * adds to the environment.
 */
async function asOwner(program, args, { within = [], env } = {}) {
  const { uid, gid } = owner()
  const path = join(programs(), program)
  const how = { cwd: '/', env: { ...process.env, ...env } }
  try {
    if (within.length === 0) return await run(path, args, { ...how, uid, gid })
    const [first, ...rest] = within
    const as = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', path]
    return await run(first, [...rest, ...as, ...args], how)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    throw new Error(`this test needs ${program}, of Debian's package postgresql: ${error.message}`)
  }
}

/** The processes of a server, the postmaster first: each of its sessions has one. */
function processesOf(data) {
  const first = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
  const rest = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8')
  return [first, ...rest.split(' ').filter(Boolean).map(Number)]
}

/** Makes the folder of an empty cluster. */
function initialize(data) {
  const access = ['--auth=trust', '--username=postgres']
  return asOwner('initdb', [
    `--pgdata=${data}`,
    ...access,
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ])
}

/**
 * Starts a PostgreSQL server: { port, url, start(), stop(), pause(), resume(), close() }, with
 * these lines in its postgresql.conf. It never waits for the disk, because no test simulates a
 * crash of the machine.
 */
const postgresServer = (...settings) => postgresWith({ settings })

/**
 * The same, with more: make(data) fills its folder; it listens at `host`, and `how` is as for asOwner(). The server also
 * has `socket`, the folder of its socket, empty(), which deletes all data of a stopped server, and promote().
 */
async function postgresWith({ settings = [], make = initialize, host = '127.0.0.1', port, how }) {
  const folder = mkdtempSync(join(tmpdir(), 'boxoffice-postgres-'))
  const { uid, gid } = owner()
  chownSync(folder, uid, gid)
  const data = join(folder, 'data')
  const own = port ?? (await freePort())
  const lines = [
    `listen_addresses = '${host}'`,
    `port = ${own}`,
    `unix_socket_directories = '${folder}'`,
    'max_connections = 300',
    'fsync = off',
    ...settings,
  ]
  async function fill() {
    await make(data)
    appendFileSync(join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`)
  }
  await fill()
  const control = (...args) => asOwner('pg_ctl', [...args, '-w', '-D', data], how)
  const server = {
    port: own,
    socket: folder,
    url: `postgres://postgres@${host}:${own}/postgres`,
    start: () => control('start', '-l', join(folder, 'log')),
    /** As in a crash, unless `mode` is 'fast'. */
    stop: (mode = 'immediate') => control('stop', '-m', mode),
    promote: () => control('promote'),
    async empty() {
      rmSync(data, { recursive: true })
      await fill()
    },
    pause: () => Promise.all(processesOf(data).map(stop)),
    resume() {
      for (const pid of processesOf(data)) process.kill(pid, 'SIGCONT')
    },
    async close() {
      if (existsSync(join(data, 'postmaster.pid'))) await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

module.exports = { asOwner, initialize, owner, postgresServer, postgresWith }
