'use strict'
// Adapts clients of the package redis that follow the master of a Sentinel: createSentinel(). Such a client keeps its
// options private and has no duplicate(). So each connection of this library first asks the sentinels of `connection`
// for the master. A second createSentinel() would not do: it reconnects without reporting that messages were lost,
// keeps the process alive, and prints errors to the console.
const { findPackage } = require('../find.js')
const { isNotNeeded, notOpen, single } = require('./node_redis.js')
const { plain } = require('./plain.js')

const isOurs = (client) =>
  typeof client?.getSentinelNode === 'function' && typeof client.sendCommand === 'function'

function adapt(client, connection) {
  if (connection === undefined) {
    throw new TypeError(
      'a client of createSentinel() keeps its options private, and our own connections need them: ' +
        'give redis(client, { connection }) the options that createSentinel() got',
    )
  }
  const { name, sentinelRootNodes } = connection
  const path = findPackage('redis', client)
  if (typeof name !== 'string' || !Array.isArray(sentinelRootNodes)) {
    throw new TypeError(
      'connection must have the name and the sentinelRootNodes of createSentinel()',
    )
  }
  return {
    isCluster: false,
    prefix: '',
    command: (_key, words) =>
      client.isOpen ? client.sendCommand(false, words) : Promise.reject(notOpen()),
    // The client does not tell whether it is connected to the current master.
    isReady: () => false,
    listening: (onMessage, onEnd, patience) =>
      toMaster(require(path), connection, onMessage, onEnd, patience),
    options: () => ({
      module: 'redis',
      adapter: 'sentinel',
      options: plain(connection, isNotNeeded),
    }),
  }
}

/** Makes a connection to the current master, as in ../subscription.js. It also has send(words). */
function toMaster({ createClient }, options, onMessage, onEnd, patience) {
  const { RESP, name, nodeAddressMap, nodeClientOptions, sentinelClientOptions } = options
  const asked = []
  let own
  let isClosed = false

  const make = (clientOptions, node, ...rest) => {
    // Merge the options as createSentinel() does. A `url` would always lead to the same server.
    const socket = { ...clientOptions?.socket, ...node }
    return single(createClient({ RESP, ...clientOptions, url: undefined, socket }), ...rest)
  }

  async function ask({ host, port }) {
    const sentinel = make(sentinelClientOptions, { host, port }, noop, noop, patience)
    asked.push(sentinel)
    await sentinel.open()
    const master = await sentinel.send(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
    if (!master) throw new Error(`the sentinel at ${host}:${port} knows no master named "${name}"`)
    const [ip, itsPort] = master.map(String)
    return nodeAddressMap?.[`${ip}:${itsPort}`] ?? { host: ip, port: Number(itsPort) }
  }

  function endAsking() {
    for (const sentinel of asked) sentinel.close()
  }

  return {
    async open() {
      // Ask all sentinels at once, because the machine of the master and of a sentinel may be down.
      const asking = Promise.any(options.sentinelRootNodes.map(ask)).finally(endAsking)
      const node = await asking.catch(({ errors: [error] }) => {
        throw error ?? new Error('sentinelRootNodes is empty')
      })
      if (isClosed) throw new Error('the connection has been closed')
      own = make(nodeClientOptions, node, onMessage, onEnd, patience)
      await own.open()
    },
    listen: (channel) => own.listen(channel),
    stop: (channel) => own.stop(channel),
    ping: () => own.ping(),
    send: (words) => own.send(words),
    close() {
      isClosed = true
      endAsking()
      own?.close()
    },
  }
}

const noop = () => {}

/** Makes a client of the renewing thread: see replaced.js. When its connection ends, the next one asks the sentinels. */
function start(redis, { options }, { report, drop }, patience) {
  const onEnd = (error) => {
    report(error)
    drop(error)
  }
  const connection = toMaster(redis, options, noop, onEnd, patience)
  return {
    opening: connection.open(),
    command: (_key, words) => connection.send(words),
    close: () => connection.close(),
  }
}

module.exports = { adapt, isOurs, start }
