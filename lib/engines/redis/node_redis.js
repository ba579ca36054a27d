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
    listening: (...rest) => (ofCluster ? listeningCluster : listening)(client, ...rest),
    options: () => ({
      module: 'redis',
      isCluster: ofCluster,
      options: plain(ofCluster ? client._options : client.options),
    }),
  }
}

/**
 * Of one server: where its connection ends, another one is made, whatever the client's own strategy is. No time between
 * two commands is too long, whatever `socketTimeout` says; and a timer for `pingInterval` would keep the process alive.
 */
function listening(client, hear, ended, patience) {
  const { socket } = client.options
  const own = client.duplicate({
    pingInterval: undefined,
    socket: {
      ...socket,
      connectTimeout: Math.min(socket?.connectTimeout || patience, patience),
      reconnectStrategy: false,
      socketTimeout: undefined,
    },
  })
  own.unref()
  let isConnected = false
  let isClosed = false
  const end = () => own.isOpen && own.destroy()
  own.on('error', (error) => {
    if (!own.isOpen && !isClosed) ended(error)
  })
  // Before that there is nothing to destroy.
  own.on('connect', () => {
    isConnected = true
    if (isClosed) end()
  })
  return {
    open: () => own.connect(),
    listen: (channel) => own.subscribe(channel, hear),
    stop: (channel) => own.unsubscribe(channel),
    ping: () => own.ping(),
    close() {
      isClosed = true
      if (isConnected) end()
    },
  }
}

/** Of a cluster, which connects again by itself, and keeps the process alive. */
function listeningCluster(client, hear) {
  const { defaults } = client._options
  const own = client.duplicate({
    defaults: { ...defaults, socket: { ...defaults?.socket, reconnectStrategy } },
  })
  // What it could not hear is asked for: see `look` of an engine.
  own.on('error', () => {})
  return {
    open: () => own.connect(),
    listen: (channel) => own.sSubscribe(channel, hear),
    stop: (channel) => own.sUnsubscribe(channel),
    /** Where its server was told that the slot has moved, it has forgotten the channel. */
    again: (channel) => own.sSubscribe(channel, hear),
    close: () => own.isOpen && own.destroy(),
  }
}

const reconnectStrategy = (tries) => Math.min(50 * (tries + 1), 500)

/** In a keeper's thread. */
async function connect({ createClient, createCluster }, { isCluster, options }) {
  const socket = { reconnectStrategy }
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
