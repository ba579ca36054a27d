'use strict'
// Connects to etcd through the user's package etcd3, with the options of the user's client.
const { kindError } = require('../../core/errors.js')
const { createHash } = require('node:crypto')
const { checkObject } = require('../../core/options.js')
const { now } = require('../clock.js')
const { outside } = require('../outside.js')
const { inTime, noAnswer } = require('../patience.js')

/** With several servers: after a failure, calls avoid a server for this time, in milliseconds. */
const rest = 1000

/** The status of a gRPC call that its client has ended. */
const canceled = 1

/** Keepalives detect a server that hangs without closing its connection; etcd's servers allow this rate. */
const channelOptions = {
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2000,
}

/** The options of `client`, or `connection` instead: only those that can be cloned to another thread. */
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

/** The policy of all calls of a client: no call is repeated, and a token that the server has outdated is dropped. */
const once = (forgetToken) => ({
  async execute(doing) {
    try {
      // A call opens the connection when there is none.
      return await outside(() => doing({}))
    } catch (error) {
      // etcd3 itself replaces a token only when it has expired.
      if (/auth store is old/.test(error.message)) forgetToken()
      throw error
    }
  },
})

/**
 * The limit of the calls of one client: a call fails after `time` ms, unless its answer arrived while the loop was blocked.
 * A deadline of gRPC would not wait for such an answer.
 */
function limiting(time) {
  let last
  // etcd3 does not show its gRPC calls. A call that is not ended keeps the process alive until its connection is given up.
  const keep = (options, nextCall) => {
    last = nextCall(options)
    return last
  }
  return {
    callOptions: ({ isStream }) => (isStream ? {} : { interceptors: [keep] }),
    async run(doing) {
      last = undefined
      const answer = doing({})
      // etcd3 starts a call at once.
      const call = last
      return inTime(answer, time, () => {
        const error = noAnswer(time)
        call?.cancelWithStatus(canceled, error.message)
        return error
      })
    },
  }
}

/** The policy of a single server. */
const patient = (limit) => ({ execute: (doing) => limit.run(doing) })

/** The policy of one of several servers: when it throws without a call, etcd3 tries the next server. */
function avoidFailed(limit) {
  let failure
  let until = 0
  return {
    async execute(doing) {
      if (now() < until) throw failure
      try {
        return await limit.run(doing)
      } catch (error) {
        if (!isAnswer(error)) {
          failure = error
          until = now() + rest
        }
        throw error
      }
    },
  }
}

/** Whether the error is a server's refusal of a command, rather than a failure of the server. */
const isAnswer = ({ message }) => /etcdserver: (?!.*(leader|timed out|stopped))/.test(message)

/** A thread gets each Buffer as a Uint8Array, which gRPC refuses. */
const asBuffers = (files) =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file && Buffer.from(file)]))

/** A client that makes each command once, within `time` ms: the engine repeats failed commands itself. */
function makeClient({ Etcd3 }, { credentials, auth, ...connection }, time) {
  const limit = limiting(time)
  const host = () => (connection.hosts.length === 1 ? patient(limit) : avoidFailed(limit))
  const global = once(() => client.pool.authenticator.invalidateMetadata())
  // Logging in precedes a call and its policy.
  const callOptions = () => ({ deadline: Date.now() + time })
  const client = new Etcd3({
    ...connection,
    ...(credentials && { credentials: asBuffers(credentials) }),
    ...(auth && { auth: { ...auth, callOptions } }),
    defaultCallOptions: limit.callOptions,
    faultHandling: { host, global },
  })
  return client
}

/** A client of one server, chosen by `turn`, since a stream stays with its server. */
function makeStreamClient(etcd3, { hosts, grpcOptions, ...rest }, turn, time) {
  const host = hosts[turn % hosts.length]
  // A connection of its own, which can be unreferenced: commands must keep the process alive, a stream must not.
  const own = { ...grpcOptions, 'grpc.use_local_subchannel_pool': 1 }
  return makeClient(etcd3, { ...rest, hosts: [host], grpcOptions: own }, time)
}

/** The first server's index is random, so that processes spread over the servers. */
const firstTurn = () => Math.floor(Math.random() * 1000)

/** The limit of one call, in ms: it leaves time for a call to another server. */
const callTime = (answerTimeout) => Math.max(500, answerTimeout / 3)

/** Derives a lease's number from the session, so that this thread and the renewing thread agree without a message. */
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
