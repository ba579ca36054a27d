'use strict'
// A Redis master, its replica, and a sentinel that watches them, on loopback. All of them require a
// password.
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { Redis } = require('ioredis')
const { freePort, redisServer, serve } = require('./servers.js')

const host = '127.0.0.1'
const name = 'tickets'
const password = 'secret'
/** The password of the sentinel itself. */
const sentinelPassword = 'watched'

async function ask(port, login, ...words) {
  const client = new Redis({ host, port, password: login })
  try {
    return await client.call(...words)
  } finally {
    client.disconnect()
  }
}

/** { name, password, sentinels, sentinelPassword, failOver(), close() } */
async function redisSentinel() {
  const login = ['--requirepass', password, '--masterauth', password]
  const master = await redisServer(...login)
  const replica = await redisServer(...login, '--replicaof', `${host} ${master.port}`)
  const isLinked = async () =>
    (await ask(replica.port, password, 'INFO', 'replication')).includes('link_status:up')
  while (!(await isLinked())) await sleep(50)

  const directory = mkdtempSync(join(tmpdir(), 'boxoffice-sentinel-'))
  const port = await freePort()
  const configuration = join(directory, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    `bind ${host}`,
    `dir ${directory}`,
    `requirepass ${sentinelPassword}`,
    `sentinel monitor ${name} ${host} ${master.port} 1`,
    `sentinel auth-pass ${name} ${password}`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 2000`,
  ]
  writeFileSync(configuration, `${lines.join('\n')}\n`)
  const args = [configuration, '--sentinel']
  const wanted = "Debian's package redis-server"
  const sentinel = await serve('redis-server', args, port, { wanted })
  const info = () => ask(port, sentinelPassword, 'INFO', 'sentinel')
  while (!(await info()).includes('status=ok') || !(await info()).includes('slaves=1')) {
    await sleep(50)
  }
  return {
    name,
    password,
    sentinels: [{ host, port }],
    sentinelPassword,
    /** The master dies, and the replica replaces it. */
    async failOver() {
      await master.stop()
      while ((await ask(replica.port, password, 'ROLE'))[0] !== 'master') await sleep(50)
    },
    async close() {
      const ended = new Promise((resolve) => sentinel.once('exit', resolve))
      sentinel.kill('SIGKILL')
      await ended
      await Promise.all([master.close(), replica.close()])
      rmSync(directory, { recursive: true })
    },
  }
}

module.exports = { redisSentinel }
