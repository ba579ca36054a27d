'use strict'
// Adapts clients of the package redis: createClient() and createCluster().
const { setTimeout } = require('../../core/builtins.js')
const { plain } = require('./plain.js')

const isFunction = (client, ...names) => names.every((name) => typeof client?.[name] === 'function')

const isOurs = (client) =>
  isFunction(client, 'sendCommand', 'duplicate', 'subscribe', 'sSubscribe', 'unref', 'destroy') ||
  isCluster(client)

const isCluster = (client) =>
  isFunction(client, 'sendCommand', 'duplicate', 'sSubscribe', 'getSlotRandomNode', 'destroy')

function adapt(client) {
  const ofCluster = isCluster(client)
  return {
    isCluster: ofCluster,
    prefix: '',
    command(key, words) {
      if (client.isOpen === false) return Promise.reject(notOpen())
      return ofCluster ? client.sendCommand(key, false, words) : client.sendCommand(words)
    },
    isReady: () => !ofCluster && client.isReady,
    listening: (...rest) => (ofCluster ? listeningCluster : single)(client, ...rest),
    options: (connection = ofCluster ? client._options : client.options) => ({
      module: 'redis',
      isCluster: ofCluster,
      options: plain(connection, isNotNeeded),
    }),
  }
}

const notOpen = () => new Error('the client is not connected: call client.connect() first')

/** Options that the renewing thread does not need: it retries in its own way, and sends only few commands. */
const ofOthers = new Set([
  'clientSideCache',
  'commandOptions',
  'functions',
  'modules',
  'reconnectStrategy',
  'scripts',
])

/** Leaves out a credentials provider next to a password, because a client makes such a provider by itself. */
const isNotNeeded = (name, { username, password }) =>
  ofOthers.has(name) || (name === 'credentialsProvider' && Boolean(username || password))

/**
 * Makes a listening connection to one server. It does not reconnect: ../subscription.js makes a new one. It has no
 * `socketTimeout`, because no pause between messages is too long, and no `pingInterval`, whose timer would keep the
 * process alive. send(words) is for node_sentinel.js.
 */
function single(client, onMessage, onEnd, patience) {
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
    if (!own.isOpen && !isClosed) onEnd(error)
  })
  // Close it now if close() was called earlier: before the connection exists, destroy() does not work.
  own.on('connect', () => {
    isConnected = true
    if (isClosed) end()
  })
  return {
    open: () => own.connect(),
    listen: (channel) => own.subscribe(channel, onMessage),
    stop: (channel) => own.unsubscribe(channel),
    ping: () => own.ping(),
    send: (words) => own.sendCommand(words),
    close() {
      isClosed = true
      if (isConnected) end()
    },
  }
}

/**
 * Returns `own`, the options of a client that reconnects until end(client). Its destroy() would miss connections that it
 * is making, and connections that a cluster's client makes after a server has answered with the slots.
 */
function endable(options) {
  let isEnded = false
  const retry = (tries) => !isEnded && reconnectStrategy(tries)
  const own = { ...options, socket: { ...options?.socket, reconnectStrategy: retry } }

  function end(client) {
    isEnded = true
    if (!isCluster(client)) return endOne(client)
    const endAll = () => {
      for (const { client: one, pubSub } of [...client.masters, ...client.replicas]) {
        endOne(one)
        endOne(pubSub?.client)
      }
    }
    client.on('node-connect', endAll)
    endAll()
  }
  return { own, end }
}

function endOne(client) {
  if (!client?.isOpen) return
  if (client.isReady) return client.destroy()
  client.unref()
  const end = () => client.isOpen && client.destroy()
  client.once('connect', end)
  client.once('ready', end)
  // By then it has failed to connect, or its server has not answered the greeting.
  const { connectTimeout } = client.options?.socket ?? {}
  setTimeout(end, (connectTimeout || usualConnectTimeout) + longestPause).unref()
}

/** Makes a listening connection to a cluster. The client reconnects by itself, and keeps the process alive. */
function listeningCluster(client, onMessage) {
  const { own: defaults, end } = endable(client._options.defaults)
  const own = client.duplicate({ defaults })
  // Ignore errors: requests ask again after `look` ms (engine.d.ts), in case messages were lost.
  own.on('error', () => {})
  return {
    open: () => open(own),
    listen: (channel) => own.sSubscribe(channel, onMessage),
    stop: (channel) => own.sUnsubscribe(channel),
    /**
     * Must not unsubscribe: the client has dropped the channel when the server reported that the slot has moved, and
     * the server would refuse the command.
     */
    again: (channel) => own.sSubscribe(channel, onMessage),
    close: () => end(own),
  }
}

/** Connects. A cluster's own error only says that no node could be reached, so rejects with the last node's error. */
async function open(client) {
  let last
  const note = (error) => {
    last = error
  }
  client.on('error', note)
  try {
    await client.connect()
  } catch (error) {
    throw last ?? error
  } finally {
    client.off('error', note)
  }
}

/** The longest pause before a client tries to connect again, in milliseconds. */
const longestPause = 500
/** The time that node-redis allows for a connection by default, in milliseconds. */
const usualConnectTimeout = 5000
const reconnectStrategy = (tries) => Math.min(50 * (tries + 1), longestPause)

/** Makes a client of the renewing thread: see replaced.js. */
function start({ createClient, createCluster }, { isCluster: ofCluster, options }, { report }) {
  const { own, end } = endable(ofCluster ? options.defaults : options)
  const client = ofCluster ? createCluster({ ...options, defaults: own }) : createClient(own)
  client.on('error', report)
  client.on('node-error', report)
  client.on('ready', () => report(undefined))
  const opening = open(client)
  return {
    opening,
    command: adapt(client).command,
    close: () => end(client),
  }
}

module.exports = { adapt, isNotNeeded, isOurs, notOpen, single, start }
