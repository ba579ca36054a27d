'use strict'
// The connection that receives a session's messages (../subscription.js): one stream to one server, with a watch of the
// messages to this session and a watch of all sessions.
const { firstTurn, makeStreamClient } = require('./client.js')
const { lastOf } = require('./names.js')

/** A session and its ttl, which is 0 if the session has ended. */
const sessionIn = ({ key, value }) => [lastOf(key), Number(value.toString())]

/** The id of the watch of all sessions. Other watches get the next numbers. */
const sessionsWatch = '1'

/**
 * Returns a function that makes such connections. A connection calls `onSessions(all)` with all [session, ttl] pairs,
 * and `onSession(session, ttl, revision)` when a session begins or ends. `textsOf(value, revision)` returns the texts
 * of ../subscription.js for a message.
 */
function listeningWith(etcd3, connection, names, patience, { onSessions, onSession, textsOf }) {
  let turn = firstTurn()
  return (onMessage, onEnd) => {
    const client = makeStreamClient(etcd3, connection, turn++, patience, names.prefix)
    /** By the id of a watch that has not begun yet: the functions that settle its promise. */
    const begun = new Map()
    const channels = new Map()
    /** The watches that this connection has ended itself. */
    const stopped = new Set()
    let last = Number(sessionsWatch)
    let stream
    let isClosed = false

    function close() {
      isClosed = true
      stream?.cancel()
      client.close()
    }

    function fail(error) {
      if (isClosed) return
      for (const { reject } of begun.values()) reject(error)
      onEnd(error)
    }

    function onResponse({ watch_id: watch, created, canceled, cancel_reason: why, events }) {
      if (isClosed) return
      if (canceled) {
        // If etcd has refused to begin a watch, the id is -1.
        if (!stopped.delete(watch)) fail(new Error(`etcd has ended a watch: ${why}`))
      } else if (created) {
        begun.get(watch)?.resolve()
        begun.delete(watch)
      } else if (watch === sessionsWatch) {
        for (const { kv } of events) onSession(...sessionIn(kv), Number(kv.mod_revision))
      } else {
        for (const { type, kv } of events) {
          if (type === 'Put')
            for (const text of textsOf(kv.value, Number(kv.mod_revision))) onMessage(text)
        }
      }
    }

    function watch(id, range) {
      const beginning = new Promise((resolve, reject) => begun.set(id, { resolve, reject }))
      stream.write({ create_request: { ...range, watch_id: id } })
      return beginning
    }

    function stop(id) {
      stopped.add(id)
      stream.write({ cancel_request: { watch_id: id } })
    }

    return {
      async open() {
        const { kvs, header } = await client.kv.range(names.sessions())
        stream = await client.watchClient.watch()
        stream.on('data', onResponse).on('error', fail)
        stream.on('end', () => fail(new Error('etcd has ended the stream of watches')))
        onSessions(kvs.map(sessionIn))
        const range = { ...names.sessions(), start_revision: `${Number(header.revision) + 1}` }
        await watch(sessionsWatch, range)
        unrefStream(stream)
      },
      async listen(session) {
        last++
        channels.set(session, `${last}`)
        await watch(`${last}`, { key: names.to(session) })
      },
      async stop(session) {
        stop(channels.get(session))
        channels.delete(session)
      },
      /**
       * Checks the stream by a new watch, and the server by a read, which a server cut off from the others does not
       * answer. A progress request would not do: newer servers answer it only after the first revision of the watches.
       */
      async ping() {
        await client.kv.range({ ...names.sessions(), count_only: true })
        last++
        await watch(`${last}`, { key: names.session('') })
        stop(`${last}`)
      },
      close,
    }
  }
}

/**
 * Lets the process end while the stream is open, for which gRPC has no option. If another version of gRPC has its
 * socket elsewhere, the stream keeps the process alive until engine.close().
 */
function unrefStream(stream) {
  stream.call?.call?.channel?.currentPicker?.subchannel?.child?.transport?.session?.unref?.()
}

module.exports = { listeningWith }
