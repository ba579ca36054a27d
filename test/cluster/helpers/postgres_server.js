'use strict'
// A PostgreSQL of the tests' own: a cluster in a folder that goes away again, on a free port of loopback.
const { execFile, execFileSync } = require('node:child_process')
const {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { promisify } = require('node:util')
const { freePort } = require('./servers.js')

const run = promisify(execFile)
const debian = '/usr/lib/postgresql'

/** PostgreSQL refuses to run as root: then it is the user that Debian's package made for it. */
function owner() {
  if (process.getuid() === 0) return { uid: idOf('-u'), gid: idOf('-g') }
  return { uid: process.getuid(), gid: process.getgid() }
}

function idOf(flag) {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

/** The folder of the newest server that is installed: Debian keeps them off the path. */
function programs() {
  if (!existsSync(debian)) return ''
  const [newest] = readdirSync(debian).sort((a, b) => b - a)
  return join(debian, newest, 'bin')
}

/** `program`, as who owns the cluster, to its end. */
async function asOwner(program, args) {
  try {
    return await run(join(programs(), program), args, { ...owner(), cwd: '/' })
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    throw new Error(`this test needs ${program}, of Debian's package postgresql: ${error.message}`)
  }
}

/** The processes of a server, its first one first: each of its sessions has one. */
function processesOf(data) {
  const first = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
  const rest = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8')
  return [first, ...rest.split(' ').filter(Boolean).map(Number)]
}

/**
 * A PostgreSQL server of its own: { port, url, start(), stop(), pause(), resume(), close() }, with these lines in its
 * postgresql.conf. Nothing waits for the disk: what a crash of the machine would do is not tested here.
 */
async function postgresServer(...settings) {
  const folder = mkdtempSync(join(tmpdir(), 'boxoffice-postgres-'))
  const { uid, gid } = owner()
  chownSync(folder, uid, gid)
  const data = join(folder, 'data')
  const port = await freePort()
  const access = ['--auth=trust', '--username=postgres']
  await asOwner('initdb', [
    `--pgdata=${data}`,
    ...access,
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ])
  const lines = [
    "listen_addresses = '127.0.0.1'",
    `port = ${port}`,
    `unix_socket_directories = '${folder}'`,
    'max_connections = 300',
    'fsync = off',
    ...settings,
  ]
  writeFileSync(join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`)
  const signal = (name) => {
    for (const pid of processesOf(data)) process.kill(pid, name)
  }
  const server = {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start: () => asOwner('pg_ctl', ['start', '-w', '-D', data, '-l', join(folder, 'log')]),
    /** As in a crash, unless `mode` is 'fast'. */
    stop: (mode = 'immediate') => asOwner('pg_ctl', ['stop', '-w', '-D', data, '-m', mode]),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async close() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

module.exports = { asOwner, owner, postgresServer }
