'use strict'
// Clients of the package ioredis: Redis and Cluster.
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
    subscriber: (closing) => subscriber(client, isCluster, closing),
    options: () => ({
      module: 'ioredis',
      isCluster,
      nodes: isCluster ? plain(startupNodes(client)) : undefined,
      options: plain(client.options),
    }),
  }
}

const startupNodes = (cluster) =>
  cluster.nodes('master').map(({ options: { host, port } }) => ({ host, port }))

function duplicate(client, isCluster) {
  // To ioredis the channels of a cluster are keys: they are given in full.
  const redisOptions = { ...client.options.redisOptions, keyPrefix: '' }
  return isCluster
    ? client.duplicate([], {
        shardedSubscribers: true,
        lazyConnect: false,
        keyPrefix: '',
        redisOptions,
      })
    : client.duplicate({ lazyConnect: false, maxRetriesPerRequest: null })
}

async function subscriber(client, isCluster, closing) {
  const own = duplicate(client, isCluster)
  closing.addEventListener('abort', () => own.disconnect(), { once: true })
  let onMissed = () => {}
  // It connects again by itself; until then what it could not hear is asked for: see `look` of an engine.
  own.on('error', () => {})
  own.on('connect', () => own.stream?.unref())
  own.on('ready', () => {
    // By now it has asked for its channels again: the answer to this comes after that to them.
    if (!isCluster) own.ping().then(onMissed, () => {})
  })
  let last = []
  let hear
  own.on(isCluster ? 'smessage' : 'message', (_channel, message) => hear?.(message))
  return {
    async to(channels, call) {
      const [listen, stop] = isCluster
        ? ['ssubscribe', 'sunsubscribe']
        : ['subscribe', 'unsubscribe']
      const before = last
      last = channels
      hear = call
      for (const channel of channels) await own[listen](channel)
      for (const channel of before) await own[stop](channel)
    },
    /** Of a cluster. */
    async again(channel) {
      await own.sunsubscribe(channel)
      await own.ssubscribe(channel)
    },
    missed(call) {
      onMissed = call
    },
  }
}

/** In a keeper's thread. */
async function connect({ Redis, Cluster }, { isCluster, nodes, options }) {
  const retry = (tries) => Math.min(50 * tries, 500)
  // Names are given in full; a cluster without a prefix takes that of its nodes.
  const redisOptions = { ...options.redisOptions, keyPrefix: '' }
  const own = { ...options, redisOptions, keyPrefix: '', lazyConnect: false }
  const client = isCluster
    ? new Cluster(nodes, { ...own, clusterRetryStrategy: retry })
    : new Redis({ ...own, retryStrategy: retry, maxRetriesPerRequest: null })
  // Each command says so itself.
  client.on('error', () => {})
  const { command } = adapt(client)
  return { command, close: async () => client.disconnect() }
}

module.exports = { adapt, connect, isOurs }
