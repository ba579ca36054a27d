'use strict'
// Adapts clients of the package @valkey/valkey-glide: GlideClient and GlideClusterClient.
const { plain } = require('./plain.js')

const isOurs = (client) =>
  typeof client?.customCommand === 'function' && typeof client.subscribe === 'function'

function adapt(client) {
  const isCluster = typeof client.ssubscribe === 'function'
  return {
    isCluster,
    prefix: '',
    command: commandOf(client, isCluster),
    // The client does not tell whether it is connected.
    isReady: () => false,
    listening: (...rest) => listening(client, isCluster, ...rest),
    options: (connection = client.config) => ({
      module: '@valkey/valkey-glide',
      isCluster,
      options: plain(connection, (name) => ofOthers.has(name)),
    }),
  }
}

const commandOf = (client, isCluster) => async (key, words) => {
  const options = isCluster ? { route: { type: 'primarySlotKey', key } } : undefined
  try {
    return await client.customCommand(words, options)
  } catch (error) {
    throw withCode(error)
  }
}

/** The server's codes of errors, by the names that the client uses instead. */
const codes = { NoScriptError: 'NOSCRIPT', PermissionDenied: 'NOPERM' }

function withCode(error) {
  const [, name] = /- (NoScriptError|PermissionDenied): /.exec(error.message) ?? []
  if (name === undefined) return error
  return new Error(`${codes[name]} ${error.message}`, { cause: error })
}

/** Options that only other commands need, and options that this library's connections replace. */
const ofOthers = new Set([
  'clientCircuitBreaker',
  'clientSideCache',
  'compression',
  'connectionBackoff',
  'defaultDecoder',
  'inflightRequestsLimit',
  'lazyConnect',
  'protocol',
  'pubsubSubscriptions',
  'readFrom',
  'requestTimeout',
])

/**
 * Makes a `Client` that connects with the first command. So it can be closed while it connects, and each command after
 * a failed attempt tries again.
 */
function make(Client, options, patience, more) {
  const own = Object.entries(options).filter(([name]) => !ofOthers.has(name))
  const { advancedConfiguration } = options
  const { connectionTimeout = patience } = advancedConfiguration ?? {}
  return Client.createClient({
    ...Object.fromEntries(own),
    advancedConfiguration: {
      ...advancedConfiguration,
      connectionTimeout: Math.min(connectionTimeout, patience),
    },
    connectionBackoff: { numberOfRetries: 3, factor: 50, exponentBase: 2 },
    lazyConnect: true,
    requestTimeout: patience,
    ...more,
  })
}

/**
 * Makes a listening connection. The client reconnects by itself, without telling that messages were lost. But then it
 * subscribes again, and handles the server's confirmation as a notification without a message. So an unexpected
 * confirmation shows that the connection has ended.
 */
function listening(client, isCluster, onMessage, onEnd, patience) {
  let own
  let isOpen = false
  let isClosed = false
  let expected = 0

  async function open() {
    const callback = ({ message }) => onMessage(String(message))
    const pubsubSubscriptions = { channelsAndPatterns: {}, callback }
    own = await make(client.constructor, client.config, patience, { pubsubSubscriptions })
    own.socket.unref()
    const read = own.notificationToPubSubMessageSafe
    own.notificationToPubSubMessageSafe = (...rest) => {
      const message = read.apply(own, rest)
      if (message === null) confirmed()
      return message
    }
    if (isClosed) own.close()
    await own.customCommand(['PING'])
    isOpen = true
  }

  function confirmed() {
    if (expected > 0) expected--
    else onEnd(new Error('the connection has ended'))
  }

  const [subscribe, unsubscribe, forget] = isCluster
    ? ['ssubscribe', 'sunsubscribe', 'sunsubscribeLazy']
    : ['subscribe', 'unsubscribe', 'unsubscribeLazy']

  return {
    open,
    async listen(channel) {
      expected++
      try {
        await own[subscribe](new Set([channel]), Math.ceil(patience / 2))
      } catch (error) {
        throw error.name === 'TimeoutError' ? unconfirmed(error) : error
      }
    },
    stop(channel) {
      expected++
      return own[unsubscribe](new Set([channel]), patience)
    },
    ping: () => own.customCommand(['PING']),
    close() {
      if (isClosed) return
      isClosed = true
      if (!isOpen) return own?.close()
      // Unsubscribe first: the client logs an error if it is closed while it listens.
      const end = () => own.close()
      own[forget](null).then(end, end)
    },
  }
}

/** The error of a failed subscription, for which the package hides the server's error. */
const unconfirmed = (cause) =>
  new Error('the server has not confirmed a subscription, as if it answered NOPERM', { cause })

/** The longest time of one attempt to renew a session, in ms. */
const longestRenewal = 800

/**
 * Makes a client of the renewing thread: see replaced.js. A client that cannot reconnect does not tell why, but a new
 * client does. So a failed command drops the client.
 */
function start(glide, { isCluster, options }, { drop }, patience) {
  const { GlideClient, GlideClusterClient, Logger } = glide
  // Keep the first client of this thread from replacing the logger that the process has configured.
  Logger._instance ??= {}
  // Ends a command before replaced.js does, because the package's error tells more.
  const time = Math.min(Math.floor(patience * 0.8), longestRenewal)
  const opening = make(isCluster ? GlideClusterClient : GlideClient, options, time)
  return {
    opening,
    async command(...rest) {
      try {
        return await commandOf(await opening, isCluster)(...rest)
      } catch (error) {
        drop(error)
        throw error
      }
    },
    close: () => opening.then((client) => client.close(), noop),
  }
}

const noop = () => {}

module.exports = { adapt, isOurs, start }
