// The servers whose load is measured as keys, sessions and processes grow (scale-rows.js). Each is
//   start()             a promise for { port, close() }, of a server of its own
//   open(port)          a promise for a function that makes another engine over one client, as one more process would
//   fill(port, count)   adds that many keys that were used before, and resolves to their bytes; undefined if it keeps none
const { execFileSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { etcdServer } = require('../../test/cluster/helpers/etcd_server.js')
const { postgresServer } = require('../../test/cluster/helpers/postgres_server.js')
const { redisServer } = require('../../test/cluster/helpers/servers.js')

/** What a keyed mutex without a name has in front of its keys. */
const keysOf = 'keyed mutex::s'

const scaleServers = {
  Redis: {
    start: () => redisServer('--maxclients', 20_000),
    async open(port) {
      const { redis } = require('../../lib/cluster/redis/index.js')
      const client = connected(port)
      return () => redis(client)
    },
    async fill(port, count) {
      const client = connected(port)
      const before = await usedBy(client)
      for (let key = 0; key < count; ) {
        const some = client.pipeline()
        for (const end = Math.min(count, key + 10_000); key < end; ++key) {
          const name = `{boxoffice:0}:k:${keysOf}${key}`
          some.hset(name, 'c', 1, 'o', 0, 'f', 50_000_000_000_000 + key, 'a', 0)
          some.pexpire(name, 3_600_000)
        }
        await some.exec()
      }
      const bytes = (await usedBy(client)) - before
      client.disconnect()
      return bytes
    },
  },

  PostgreSQL: {
    start: () => postgresServer('fsync = on'),
    async open(port) {
      const { postgres } = require('../../lib/cluster/postgres/index.js')
      const pool = poolOf(port)
      return () => postgres(pool)
    },
    async fill(port, count) {
      const pool = poolOf(port)
      const sql = `INSERT INTO boxoffice.leases (key, capacity, fence)
        SELECT '${keysOf}' || key, 1, key FROM generate_series(0, $1 - 1) key ON CONFLICT DO NOTHING`
      await pool.query(sql, [count])
      await pool.query('VACUUM ANALYZE boxoffice.leases')
      const { rows } = await pool.query("SELECT pg_total_relation_size('boxoffice.leases') bytes")
      await pool.end()
      return Number(rows[0].bytes)
    },
  },

  etcd: {
    start: () => etcdServer(),
    async open(port) {
      const { Etcd3 } = require('etcd3')
      const { etcd } = require('../../lib/cluster/etcd/index.js')
      const client = new Etcd3({ hosts: `http://127.0.0.1:${port}` })
      return () => etcd(client)
    },
    /** A key that is free is absent. */
    fill: async () => undefined,
  },
}

function connected(port) {
  const { Redis } = require('ioredis')
  return new Redis(port, '127.0.0.1')
}

async function usedBy(client) {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1])
}

function poolOf(port) {
  const { Pool } = require('pg')
  return new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 5 })
}

/** The processor time that the server at `port` has used, with its processes, in ms. */
function processorTime(port) {
  const listening = execFileSync('ss', ['-ltnpH', `sport = :${port}`], { encoding: 'utf8' })
  const [, first] = /pid=(\d+)/.exec(listening)
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8')
  const [own, ...others] = [first, ...children.split(' ').filter(Boolean)].map(timesOf)
  return own.total + others.reduce((sum, { alive }) => sum + alive, 0)
}

/** `total` is with the processes that have ended. */
function timesOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map((ticks) => 10 * ticks)
  return { alive: user + system, total: user + system + endedUser + endedSystem }
}

module.exports = { processorTime, scaleServers }
