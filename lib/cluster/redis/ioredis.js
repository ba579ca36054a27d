'use strict'
// Adapts clients of the package ioredis: Redis and Cluster.
const dns = require('node:dns')
const { findPackage } = require('../find.js')
const { plain } = require('./plain.js')

const isOurs = (client) =>
  typeof client?.call === 'function' &&
  typeof client.duplicate === 'function' &&
  typeof client.status === 'string'

function adapt(client) {
  const isCluster = client.isCluster === true
  // ioredis 5.6 and later set it to false by default.
  if (isCluster && client.options.shardedSubscribers === undefined) {
    throw new TypeError(
      'a Cluster of ioredis before 5.6 cannot listen to the channels of one slot: use ioredis 5.6 or later',
    )
  }
  if (isCluster) watchAsking(client)
  return {
    isCluster,
    prefix: `${client.options.keyPrefix ?? ''}`,
    command: (_key, [name, ...words]) => client.call(name, ...words),
    isReady: () => !isCluster && client.status === 'ready',
    listening: (...rest) => listening(client, isCluster, ...rest),
    options: (connection = client.options) => ({
      module: 'ioredis',
      isCluster,
      nodes: isCluster ? startupNodes(client) : undefined,
      options: plain(connection, isNotNeeded),
    }),
  }
}

const watched = new WeakSet()
const noop = () => {}

/**
 * Handles the rejections of ASKING, which `cluster` sends ahead of a command while a slot moves, and whose answer it
 * ignores. Otherwise the end of the connection would be an unhandled rejection, which ends the process. The command
 * itself rejects, too.
 */
function watchAsking(cluster) {
  const watch = (node) => {
    if (watched.has(node)) return
    watched.add(node)
    const { asking } = node
    node.asking = (...rest) => {
      const answer = asking.apply(node, rest)
      answer.catch(noop)
      return answer
    }
  }
  for (const node of cluster.nodes()) watch(node)
  if (watched.has(cluster)) return
  watched.add(cluster)
  cluster.on('+node', watch)
}

/**
 * Options that the renewing thread does not need: it retries in its own way, does not read from replicas, and sends
 * commands before it is connected.
 */
const ofOthers = new Set([
  'clusterNodeRetryStrategy',
  'clusterRetryStrategy',
  'enableOfflineQueue',
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

/** Makes a client of one server, to listen. It does not reconnect: ../subscription.js makes a new one. */
const listenerOf = (client, patience) =>
  client.duplicate({
    connectTimeout: Math.min(client.options.connectTimeout || patience, patience),
    // close() destroys the socket. If that interrupts the greeting, ioredis starts this timer afterwards, and never
    // stops it: it would keep the process alive.
    disconnectTimeout: 0,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: null,
    sentinelRetryStrategy: null,
  })

/** Makes a client of a cluster, to listen. It reconnects by itself, and keeps the process alive. */
const clusterListenerOf = (client) =>
  client.duplicate([], {
    clusterRetryStrategy: retry,
    keyPrefix: '',
    lazyConnect: true,
    // Do not add the prefix twice: ioredis adds it to the channels of a cluster, which already have it.
    redisOptions: { ...client.options.redisOptions, Connector: connectorOf(client), keyPrefix: '' },
    shardedSubscribers: true,
  })

/** Makes a listening connection. */
function listening(client, isCluster, onMessage, onEnd, patience) {
  const own = (isCluster ? clusterListenerOf : listenerOf)(client, patience)
  // Reports this error, which tells more than a failed connect() or an ended client.
  let last
  own.on('error', (error) => {
    last = reasonOf(error)
  })
  own.on('end', () => onEnd(last ?? new Error('the connection has ended')))
  // The socket of a cluster's client cannot be reached.
  own.on('connect', () => own.stream?.unref())
  own.on(isCluster ? 'smessage' : 'message', (_channel, message) => onMessage(message))
  return {
    async open() {
      try {
        await own.connect()
      } catch (error) {
        throw last ?? error
      }
    },
    listen: (channel) => (isCluster ? own.ssubscribe(channel) : own.subscribe(channel)),
    stop: (channel) => (isCluster ? own.sunsubscribe(channel) : own.unsubscribe(channel)),
    ping: isCluster ? undefined : () => own.ping(),
    close() {
      if (own.status === 'end') return
      own.disconnect()
      // Destroy the socket, or else disconnect() would wait for the server, with a timer.
      own.stream?.destroy()
    },
  }
}

/**
 * Returns a class of connections that end at once. When a server has lost its slots, ioredis only half closes the
 * connection that listens to it, and removes its listeners. A late answer of that server could then be an 'error' event
 * without a listener, which would end the process.
 */
function connectorOf(client) {
  const { Redis } = require(findPackage('ioredis', client))
  const { Connector = new Redis({ lazyConnect: true }).connector.constructor } =
    client.options.redisOptions ?? {}
  return class extends Connector {
    disconnect() {
      super.disconnect()
      this.stream?.destroy()
    }
  }
}

/** Returns the last node's error. A cluster's own error only says that no node could be reached. */
const reasonOf = (error) => error.lastNodeError ?? error

const retry = (tries) => Math.min(50 * tries, 500)

/** Makes a client of the renewing thread: see replaced.js. */
function start({ Redis, Cluster }, { isCluster, nodes, options }, { report }) {
  // Set an empty prefix everywhere, because the names already have it. A cluster would else use that of its nodes.
  const redisOptions = { ...options.redisOptions, keyPrefix: '' }
  const own = { ...options, redisOptions, keyPrefix: '', lazyConnect: false }
  const client = isCluster
    ? new Cluster(nodes, { ...own, clusterRetryStrategy: retry })
    : new Redis({ ...own, retryStrategy: retry, maxRetriesPerRequest: null })
  client.on('error', (error) => report(reasonOf(error)))
  client.on('node error', (error) => report(error))
  client.on('ready', () => report(undefined))
  // The client queues commands until it is connected.
  return {
    opening: Promise.resolve(),
    command: adapt(client).command,
    close: () => client.disconnect(),
  }
}

module.exports = { adapt, isOurs, start }
