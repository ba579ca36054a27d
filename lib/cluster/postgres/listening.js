'use strict'
// The connection to PostgreSQL that receives a session's messages: see ../subscription.js.
const { lockError } = require('../../core/errors.js')
const { inTime } = require('../patience.js')
const { patient } = require('./connections.js')
const { markAlive } = require('./listener_lock.js')

/** How long a notification may take through poolers and proxies, in ms. */
const echoTime = 2000

const poolerError = () =>
  lockError(
    'ERR_LOCK_ENGINE_SESSION',
    'this connection to PostgreSQL goes through something that gives it another session for each ' +
      'transaction, as pgbouncer does with pool_mode=transaction: LISTEN hears nothing there. ' +
      'Give postgres(pool, { connection }) what leads to the server itself, or to a pool in session ' +
      'mode; withTransaction() needs no session, and works with any pool',
  )

/** Returns a function that makes such connections. Each step of a connection may take `patience` ms. */
function listeningWith(PlainClient, options, patience) {
  const Client = patient(PlainClient, patience)
  const config = { ...options, connectionTimeoutMillis: patience, keepAlive: true }
  const makeClient = (onError) => new Client(config).on('error', onError)

  return (onMessage, onEnd) => {
    const client = makeClient(onEnd)
    let isConnected = false
    let onEcho
    client.on('notification', ({ payload }) =>
      payload === 'echo' ? onEcho?.() : onMessage(payload),
    )

    async function checkEcho(channel) {
      const echo = new Promise((resolve) => {
        onEcho = resolve
      })
      const other = makeClient(() => {}) // on an error its commands fail as well
      try {
        await other.connect()
        await inTime(other.query('SELECT pg_notify($1, $2)', [channel, 'echo']), patience)
        await inTime(echo, echoTime, poolerError)
      } finally {
        other.end()
      }
    }

    const connection = {
      /** The process number of the server's backend. */
      backend: null,
      async open() {
        await client.connect()
        isConnected = true
        client.unref()
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
        connection.backend = Number(rows[0].pid)
      },
      listen: (channel) => client.query(`LISTEN "${channel}"`),
      stop: (channel) => client.query(`UNLISTEN "${channel}"`),
      async check(channels) {
        const { backend } = connection
        // A pooler reports a process number of its own.
        if (client.processID !== backend) await checkEcho(channels[0])
        await inTime(client.query(markAlive(backend)), patience)
      },
      ping: () => client.query('SELECT 1'),
      /** Does not end a client during connect(), which would then never report its end. */
      close: () => (isConnected ? client.end() : undefined),
    }
    return connection
  }
}

module.exports = { listeningWith }
