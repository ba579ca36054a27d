// The servers that the benches of several machines start for themselves, on loopback. A server is
//   start(port)       a promise for how to stop it
//   commands(port)    a promise for how many commands it has been given so far; undefined where it does not tell
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { createInterface } = require('node:readline')
const { etcdServer } = require('../../test/cluster/helpers/etcd_server.js')
const { postgresServer } = require('../../test/cluster/helpers/postgres_server.js')

const clusterServers = {
  redis: {
    async start(port) {
      const options = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
      const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
      for await (const line of createInterface({ input: server.stdout })) {
        if (line.includes('Ready to accept connections')) break
      }
      return async () => {
        server.kill()
        await once(server, 'exit')
      }
    },
    /** Counts clients' commands: what a script does, such as GET and DEL, belongs to its call. */
    async commands(port) {
      const { Redis } = require('ioredis')
      const client = new Redis(port, '127.0.0.1')
      const stats = await client.info('commandstats')
      client.disconnect()
      const calls = stats.matchAll(/^cmdstat_(evalsha|eval|set|ping):calls=(\d+)/gm)
      return Array.from(calls).reduce((sum, [, , count]) => sum + Number(count), 0)
    },
  },

  /**
   * With its default settings: every commit is on disk. Its statistics come too late to count
   * commits.
   */
  postgres: {
    async start(port) {
      const server = await postgresServer('fsync = on', `port = ${port}`)
      return () => server.close()
    },
    commands: async () => undefined,
  },

  /** The version whose programs are in the folder that BOXOFFICE_POSTGRES_18 names. */
  'postgres-18': {
    isMissing: process.env.BOXOFFICE_POSTGRES_18 === undefined,
    start(port) {
      process.env.BOXOFFICE_POSTGRES = process.env.BOXOFFICE_POSTGRES_18
      return clusterServers.postgres.start(port)
    },
    commands: async () => undefined,
  },

  none: { start: async () => async () => {}, commands: async () => undefined },

  /** Its writes do not wait for the disk. */
  etcd: {
    async start(port) {
      const server = await etcdServer({ port })
      return () => server.close()
    },
    commands: async () => undefined,
  },
}

module.exports = { clusterServers }
