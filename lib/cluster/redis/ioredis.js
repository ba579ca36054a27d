'use strict'
// Clients of the package ioredis: Redis and Cluster.
const dns = require('node:dns')
const { plain } = require('./plain.js')

const isOurs = (client) =>
  typeof client?.call === 'function' &&
  typeof client.duplicate === 'function' &&
  typeof client.status === 'string'

function adapt(client) {
  const isCluster = client.isCluster === true
  return {
    isCluster,
    prefix: `${client.options.keyPrefix ?? ''}`,
    command: (_key, [name, ...words]) => client.call(name, ...words),
    isReady: () => !isCluster && client.status === 'ready',
    listening: (...rest) => (isCluster ? listeningCluster : listening)(client, ...rest),
    options: (connection = client.options) => ({
      module: 'ioredis',
      isCluster,
      nodes: isCluster ? startupNodes(client) : undefined,
      options: plain(connection, isNotNeeded),
    }),
  }
}

/** The thread tries again in its own way, writes only, and runs no scripts. */
const ofOthers = new Set([
  'clusterNodeRetryStrategy',
  'clusterRetryStrategy',
  'reconnectOnError',
  'retryStrategy',
  'scaleReads',
  'scripts',
  'sentinelReconnectStrategy',
  'sentinelRetryStrategy',
])
const defaults = { dnsLookup: dns.lookup, resolveSrv: dns.resolveSrv }

const isNotNeeded = (name, { [name]: value }) =>
  ofOthers.has(name) || (typeof value === 'function' && value === defaults[name])

const startupNodes = (cluster) =>
  cluster.nodes('master').map(({ options: { host, port } }) => ({ host, port }))

/** Of one server: where its connection ends, another one is made, whatever the client's own strategy is. */
function listening(client, hear, ended, patience) {
  const own = client.duplicate({
    connectTimeout: Math.min(client.options.connectTimeout || patience, patience),
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: null,
    sentinelRetryStrategy: null,
  })
  own.on('connect', () => own.stream?.unref())
  own.on('message', (_channel, message) => hear(message))
  return {
    ...openOf(own, ended),
    listen: (channel) => own.subscribe(channel),
    stop: (channel) => own.unsubscribe(channel),
    ping: () => own.ping(),
    close() {
      if (own.status === 'end') return
      own.disconnect()
      // Else it would wait for the server, with a timer.
      own.stream?.destroy()
    },
  }
}

/** Of a cluster, which connects again by itself, and keeps the process alive. */
function listeningCluster(client, hear, ended) {
  const own = client.duplicate([], {
    clusterRetryStrategy: retry,
    keyPrefix: '',
    lazyConnect: true,
    // To ioredis the channels of a cluster are keys: they are given in full.
    redisOptions: { ...client.options.redisOptions, keyPrefix: '' },
    shardedSubscribers: true,
  })
  own.on('smessage', (_channel, message) => hear(message))
  return {
    ...openOf(own, ended),
    listen: (channel) => own.ssubscribe(channel),
    stop: (channel) => own.sunsubscribe(channel),
    async again(channel) {
      await own.sunsubscribe(channel)
      await own.ssubscribe(channel)
    },
    close() {
      if (own.status !== 'end') own.disconnect()
    },
  }
}

/** A cluster says that it could reach no node; the last of them said why. */
const reasonOf = (error) => error.lastNodeError ?? error

/** What it says when it cannot connect, or has ended, is less than the error before that. */
function openOf(own, ended) {
  let last
  own.on('error', (error) => {
    last = reasonOf(error)
  })
  own.on('end', () => ended(last ?? new Error('the connection has ended')))
  return {
    async open() {
      try {
        await own.connect()
      } catch (error) {
        throw last ?? error
      }
    },
  }
}

const retry = (tries) => Math.min(50 * tries, 500)

/** In a keeper's thread. */
async function connect({ Redis, Cluster }, { isCluster, nodes, options }, trouble) {
  // Names are given in full; a cluster without a prefix takes that of its nodes.
  const redisOptions = { ...options.redisOptions, keyPrefix: '' }
  const own = { ...options, redisOptions, keyPrefix: '', lazyConnect: false }
  const client = isCluster
    ? new Cluster(nodes, { ...own, clusterRetryStrategy: retry })
    : new Redis({ ...own, retryStrategy: retry, maxRetriesPerRequest: null })
  client.on('error', (error) => trouble(reasonOf(error)))
  client.on('node error', (error) => trouble(error))
  client.on('ready', () => trouble(undefined))
  const { command } = adapt(client)
  return { command, close: async () => client.disconnect() }
}

module.exports = { adapt, connect, isOurs }
