'use strict'
// Clients of the package redis: createClient() and createCluster().
const { plain } = require('./plain.js')

const isFunction = (client, ...names) => names.every((name) => typeof client?.[name] === 'function')

/** A sentinel's client has other ways: it has no pub/sub on one connection of its own. */
const isOurs = (client) =>
  isFunction(client, 'sendCommand', 'duplicate', 'subscribe', 'sSubscribe', 'unref') ||
  isCluster(client)

const isCluster = (client) =>
  isFunction(client, 'sendCommand', 'duplicate', 'sSubscribe', 'getSlotRandomNode')

function adapt(client) {
  const ofCluster = isCluster(client)
  return {
    isCluster: ofCluster,
    prefix: '',
    command: ofCluster
      ? (key, words) => client.sendCommand(key, false, words)
      : (_key, words) => client.sendCommand(words),
    isReady: () => !ofCluster && client.isReady,
    subscriber: (closing) => subscriber(client, ofCluster, closing),
    options: () => ({
      module: 'redis',
      isCluster: ofCluster,
      options: plain(ofCluster ? client._options : client.options),
    }),
  }
}

async function subscriber(client, ofCluster, closing) {
  const own = client.duplicate()
  const end = () => own.isOpen && own.destroy()
  closing.addEventListener('abort', end, { once: true })
  let onMissed = () => {}
  // It connects again by itself; until then what it could not hear is asked for: see `look` of an engine.
  own.on('error', () => {})
  await own.connect()
  if (!ofCluster) {
    own.unref()
    own.on('ready', () => own.ping().then(onMissed, () => {}))
  }
  let last = []
  let listener
  return {
    async to(channels, hear) {
      listener = hear
      const [listen, stop] = ofCluster
        ? ['sSubscribe', 'sUnsubscribe']
        : ['subscribe', 'unsubscribe']
      const before = last
      last = channels
      for (const channel of channels) await own[listen](channel, hear)
      for (const channel of before) await own[stop](channel)
    },
    /** Of a cluster: where its server was told that the slot has moved, it has forgotten the channel. */
    async again(channel) {
      await own.sSubscribe(channel, listener)
    },
    missed(call) {
      onMissed = call
    },
  }
}

/** In a keeper's thread. */
async function connect({ createClient, createCluster }, { isCluster, options }) {
  const socket = { reconnectStrategy: (tries) => Math.min(50 * (tries + 1), 500) }
  const client = isCluster
    ? createCluster({
        ...options,
        defaults: { ...options.defaults, socket: { ...options.defaults?.socket, ...socket } },
      })
    : createClient({ ...options, socket: { ...options.socket, ...socket } })
  // Each command says so itself.
  client.on('error', () => {})
  await client.connect()
  const { command } = adapt(client)
  return { command, close: async () => client.destroy() }
}

module.exports = { adapt, connect, isOurs }
