'use strict'
// Redis servers that do not let every client in, and clients that know how to get in.
const { once } = require('node:events')
const { execFileSync } = require('node:child_process')
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { Cluster, Redis } = require('ioredis')
const { createClient, createCluster } = require('redis')
const { freePort, redisServer } = require('./servers.js')

const host = '127.0.0.1'

/** Clients, by package, from { port, tls, ...credentials }: a promise each, for one that is connected. */
const clients = {
  async redis({ port, tls, ...credentials }) {
    const socket = { host, port, ...(tls && { tls: true, ...tls }) }
    const client = createClient({ ...credentials, socket })
    client.on('error', () => {}) // the tests look at what callers are told
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  async ioredis({ port, ...options }) {
    const client = new Redis({ host, port, ...options })
    client.on('error', () => {})
    await client.ping()
    return { client, close: () => client.disconnect() }
  },
}

/** Those of a cluster with a server at `port`. */
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
}

/** A Redis server, and ask(...words), by a client that may do everything. */
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
 * A server with the users that add(name, rights) makes: the password of each is its name. The default user has a password,
 * too: a connection that fails to log in would be its otherwise.
 */
async function serverWithUsers() {
  const server = await askable(['--requirepass', 'secret'], { password: 'secret' })
  const add = (name, rights) =>
    server.ask('ACL', 'SETUSER', name, 'reset', 'on', `>${name}`, ...rights.split(' '))
  return { ...server, add }
}

/** A server that speaks TLS at `tlsPort`, with a certificate that `ca` has signed, made now. */
async function serverWithTls(...options) {
  const directory = mkdtempSync(join(tmpdir(), 'boxoffice-tls-'))
  const at = (name) => join(directory, name)
  const openssl = (...words) => execFileSync('openssl', words, { stdio: 'pipe' })
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const authority = [
    '-subj',
    '/CN=tests of boxoffice',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.crt'),
  ]
  openssl('req', '-x509', ...fresh, ...authority)
  openssl('req', ...fresh, '-subj', `/CN=${host}`, '-keyout', at('key'), '-out', at('csr'))
  writeFileSync(at('names'), `subjectAltName=IP:${host}`)
  const signing = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial']
  openssl('x509', '-req', '-in', at('csr'), ...signing, '-extfile', at('names'), '-out', at('crt'))
  const tlsPort = await freePort()
  const files = ['--tls-cert-file', at('crt'), '--tls-key-file', at('key')]
  const more = ['--tls-ca-cert-file', at('ca.crt'), '--tls-auth-clients', 'no']
  const server = await redisServer('--tls-port', tlsPort, ...files, ...more, ...options)
  return {
    tlsPort,
    ca: readFileSync(at('ca.crt')),
    async close() {
      await server.close()
      rmSync(directory, { recursive: true })
    },
  }
}

module.exports = { askable, clients, clusterClients, host, serverWithTls, serverWithUsers }
