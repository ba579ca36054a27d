'use strict'
// Redis servers that restrict access, and clients with credentials.
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const { Cluster, Redis } = require('ioredis')
const { createClient, createCluster } = require('redis')
const { certificateOf } = require('./certificates.js')
const { glideClient, glideClusterClient } = require('./glide.js')
const { freePort, redisServer } = require('./servers.js')

const host = '127.0.0.1'

/** By package: makes a client from { port, tls, ...credentials }. Resolves when it is connected. */
const clients = {
  async redis({ port, tls, ...credentials }) {
    const socket = { host, port, ...(tls && { tls: true, ...tls }) }
    const client = createClient({ ...credentials, socket })
    client.on('error', () => {}) // the tests look at the callers\' errors
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  async ioredis({ port, ...options }) {
    const client = new Redis({ host, port, ...options })
    client.on('error', () => {})
    await client.ping()
    return { client, close: () => client.disconnect() }
  },
  async 'valkey-glide'({ port, ...options }) {
    const client = await glideClient(port, options)
    return { client, close: () => client.close() }
  },
}

/** Clients of a cluster with a server at `port`. */
const clusterClients = {
  async redis({ port, ...credentials }) {
    const client = createCluster({ rootNodes: [{ socket: { host, port } }], defaults: credentials })
    client.on('error', () => {})
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  async ioredis({ port, ...redisOptions }) {
    const client = new Cluster([{ host, port }], { redisOptions })
    client.on('error', () => {})
    await once(client, 'ready')
    return { client, close: () => client.disconnect() }
  },
  async 'valkey-glide'({ port, ...options }) {
    const client = await glideClusterClient(port, options)
    return { client, close: () => client.close() }
  },
}

/** A Redis server, and ask(...words), by a client with all rights. */
async function askable(options, credentials = {}) {
  const server = await redisServer(...options)
  const client = new Redis({ host, port: server.port, ...credentials })
  return {
    port: server.port,
    ask: (...words) => client.call(...words),
    async close() {
      client.disconnect()
      await server.close()
    },
  }
}

/**
 * A server with the users that add(name, rights) creates: the password of each is its name. The
 * default user has a password, too: otherwise a connection that fails to log in would be that
 * user's.
 */
async function serverWithUsers() {
  const server = await askable(['--requirepass', 'secret'], { password: 'secret' })
  const add = (name, rights) =>
    server.ask('ACL', 'SETUSER', name, 'reset', 'on', `>${name}`, ...rights.split(' '))
  return { ...server, add }
}

/** A server that speaks TLS at `tlsPort`, with a new certificate signed by `ca`. */
async function serverWithTls(...options) {
  const { ca, crt, key, remove } = certificateOf(host)
  const tlsPort = await freePort()
  const files = ['--tls-cert-file', crt, '--tls-key-file', key, '--tls-ca-cert-file', ca]
  const how = ['--tls-port', tlsPort, ...files, '--tls-auth-clients', 'no']
  const server = await redisServer(...how, ...options)
  return {
    tlsPort,
    ca: readFileSync(ca),
    async close() {
      await server.close()
      remove()
    },
  }
}

module.exports = { askable, clients, clusterClients, host, serverWithTls, serverWithUsers }
