'use strict'
// Connects to etcd through the user's package etcd3, with the options of the user's client.
const { kindError } = require('../../core/errors.js')
const { createHash } = require('node:crypto')
const { checkObject } = require('../../core/options.js')
const { now } = require('../clock.js')
const { outside } = require('../outside.js')
const { inTime, noAnswer } = require('../patience.js')
const { limitHandshakes } = require('./handshakes.js')
const { explained } = require('./rights.js')

/** For how many ms calls avoid a server that has failed, if there are several. */
const longestRest = 1000

/** The gRPC status of a call that the client has canceled. */
const canceled = 1

/** Keepalives detect a server that hangs without closing its connection; etcd's servers allow this rate. */
const channelOptions = {
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2000,
}

/** Returns those options of `connection`, by default of `client`, that can be sent to another thread. */
function connectionOf(client, connection = client?.pool?.options) {
  if (typeof client?.leaseClient !== 'object' || typeof client.pool?.exec !== 'function') {
    throw kindError('client must be an Etcd3 of the package etcd3', client)
  }
  checkObject(connection)
  const { hosts = '127.0.0.1:2379', credentials, auth, grpcOptions } = connection
  const all = typeof hosts === 'string' ? [hosts] : hosts
  if (!Array.isArray(all) || all.length === 0 || !all.every((host) => typeof host === 'string')) {
    throw new TypeError('the hosts of an etcd client must be a string or an array of strings')
  }
  return {
    hosts: [...all],
    ...(credentials && { credentials: { ...credentials } }),
    ...(auth && { auth: { username: auth.username, password: auth.password } }),
    grpcOptions: { ...channelOptions, ...grpcOptions },
  }
}

/**
 * The policy of all calls of a client: repeats no call, forgets a token that the server has invalidated, and explains
 * missing rights to the keys under `prefix`.
 */
const once = (forgetToken, prefix) => ({
  async execute(doing) {
    try {
      // The call may open the connection, which must not keep the async context of the caller.
      return await outside(() => doing({}))
    } catch (error) {
      // etcd3 itself replaces only an expired token.
      if (/auth store is old/.test(error.message)) forgetToken()
      throw explained(error, prefix)
    }
  },
})

/**
 * Limits the calls of one client: a call fails after `time` ms, unless its answer has arrived while the event loop was
 * blocked. A deadline of gRPC would fail in spite of such an answer.
 */
function limiting(time) {
  let last
  // Catch the gRPC calls, which etcd3 hides. A late call must be canceled: it keeps the process alive.
  const keep = (options, nextCall) => {
    last = nextCall(options)
    return last
  }
  return {
    callOptions: ({ isStream }) => (isStream ? {} : { interceptors: [keep] }),
    async run(doing) {
      last = undefined
      const answer = doing({})
      // etcd3 has started the call synchronously.
      const call = last
      return inTime(answer, time, () => {
        const error = noAnswer(time)
        call?.cancelWithStatus(canceled, error.message)
        return error
      })
    },
  }
}

/**
 * The policy of one server. A server that has failed is avoided for `rest` ms: meanwhile it throws without a call, so
 * that etcd3 tries the next server. When calls have had no answer for `patience` ms, reset() drops the connection: gRPC
 * waits without a limit for one that falls silent before it is open.
 */
function avoidFailed(limit, { rest, patience, reset }) {
  let failure
  let until = 0
  /** When the first call began that has had no answer, if the calls since then have had none either. */
  let silentSince

  function failed(error, began) {
    failure = error
    until = now() + rest
    silentSince ??= began
    if (now() - silentSince < patience) return
    silentSince = undefined
    reset()
  }

  return {
    async execute(doing) {
      const began = now()
      if (began < until) throw failure
      try {
        const answer = await limit.run(doing)
        silentSince = undefined
        return answer
      } catch (error) {
        if (isAnswer(error)) silentSince = undefined
        else failed(error, began)
        throw error
      }
    },
  }
}

/** Whether the error is a server's refusal of a command, rather than a failure of the server. */
const isAnswer = ({ message }) => /etcdserver: (?!.*(leader|timed out|stopped))/.test(message)

/** Makes the next call to `host` connect again. etcd3 would first wait for the end of an attempt to connect. */
function reset(host) {
  for (const name of ['KV', 'Lease']) host.getServiceClient(name).close()
  host.resetAllServices()
}

/** Restores the Buffers of credentials: a thread receives them as Uint8Arrays, which gRPC refuses. */
const asBuffers = (files) =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file && Buffer.from(file)]))

/**
 * Makes a client that sends each command once, with a limit of `time` ms: the engine repeats failed commands itself. It
 * uses the keys under `prefix`.
 */
function makeClient({ Etcd3 }, { credentials, auth, ...connection }, time, prefix) {
  const limit = limiting(time)
  // A busy machine may need longer for a connection than for a call.
  const patience = 3 * time
  const rest = connection.hosts.length === 1 ? 0 : longestRest
  let made = 0
  const host = () => {
    const i = made++
    return avoidFailed(limit, { rest, patience, reset: () => reset(client.pool.hosts[i]) })
  }
  const global = once(() => client.pool.authenticator.invalidateMetadata(), prefix)
  // Logging in needs a limit of its own, because it comes before a call and its policy.
  const callOptions = () => ({ deadline: Date.now() + time })
  const client = new Etcd3({
    ...connection,
    ...(credentials && { credentials: asBuffers(credentials) }),
    ...(auth && { auth: { ...auth, callOptions } }),
    defaultCallOptions: limit.callOptions,
    faultHandling: { host, global },
  })
  limitHandshakes(client, patience)
  return client
}

/** Makes a client of one server, because a stream stays with its server. `turn` chooses the server. */
function makeStreamClient(etcd3, { hosts, grpcOptions, ...rest }, turn, time, prefix) {
  const host = hosts[turn % hosts.length]
  // Do not share a connection with commands: those must keep the process alive, a stream must not.
  const own = { ...grpcOptions, 'grpc.use_local_subchannel_pool': 1 }
  return makeClient(etcd3, { ...rest, hosts: [host], grpcOptions: own }, time, prefix)
}

/** The `turn` of the first server. It is random, so that processes spread over the servers. */
const firstTurn = () => Math.floor(Math.random() * 1000)

/** The limit of one call, in ms. It leaves time for a call to another server. */
const callTime = (answerTimeout) => Math.max(500, answerTimeout / 3)

/** Derives a lease's number from the session, so that the renewing thread knows it without a message. */
function leaseId(kind, session) {
  const digest = createHash('sha256').update(`${kind} ${session}`).digest()
  return `${digest.readBigUInt64BE() & 0x7fff_ffff_ffff_ffffn}`
}

/** The lease of a session: when it ends, etcd deletes the session's keys. */
const sessionLease = (session) => leaseId('session', session)
/** The lease of a session's locks: it lasts longer, so that the next holder can be told of a lost one. */
const memoryLease = (session) => leaseId('memory', session)

module.exports = {
  callTime,
  connectionOf,
  firstTurn,
  makeClient,
  makeStreamClient,
  memoryLease,
  sessionLease,
}
