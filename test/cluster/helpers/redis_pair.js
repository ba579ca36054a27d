'use strict'
// A Redis master and its replica, in two nodes of a network (network.js).
const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { Redis } = require('ioredis')
const { freePort, started } = require('./servers.js')

/** A Redis server that also has ask(...words), which sends a command, and promote(). `within` is a node's. */
async function redisNode({ port, options = [], within, env } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'boxoffice-redis-'))
  const own = port ?? (await freePort())
  const place = join(directory, 'socket')
  const args = [
    ...['--port', own, '--bind', within ? '*' : '127.0.0.1', '--protected-mode', 'no'],
    ...['--unixsocket', place],
    ...['--save', '', '--dir', directory, ...options],
  ]
  const wanted = "Debian's package redis-server"
  const how = { port: own, place, directory, wanted, within, env }
  const server = await started('redis-server', args.map(String), how)
  const ask = async (...words) => {
    const client = new Redis({ path: place })
    try {
      return await client.call(...words)
    } finally {
      client.disconnect()
    }
  }
  return { ...server, ask, promote: () => ask('REPLICAOF', 'NO', 'ONE') }
}

/** { first, second, hasAll(), close() }: `second` is a replica of `first`, and has all by the end of hasAll(). */
async function redisPair([one, other]) {
  const port = 6379
  const first = await redisNode({ ...one, port, options: ['--repl-diskless-sync-delay', 0] })
  const options = ['--replicaof', `${one.address} ${port}`]
  const second = await redisNode({ ...other, port, options })
  while (!(await second.ask('INFO', 'replication')).includes('link_status:up')) await sleep(20)
  return {
    first,
    second,
    async hasAll() {
      const [, offset] = await first.ask('ROLE')
      while ((await second.ask('ROLE'))[4] < offset) await sleep(20)
    },
    close: () => Promise.all([first.close(), second.close()]),
  }
}

module.exports = { redisNode, redisPair }
