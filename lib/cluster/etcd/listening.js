'use strict'
// The connection by which etcd notifies a session (../subscription.js): one stream to one server, which watches the
// messages to this session, and the set of sessions.
const { firstTurn, makeStreamClient } = require('./client.js')
const { lastOf } = require('./names.js')

/** A session and its ttl; the ttl is 0 when the session has ended. */
const sessionIn = ({ key, value }) => [lastOf(key), Number(value.toString())]

/** The id of the watch of sessions; watches of channels get the next numbers. */
const sessionsWatch = '1'

/**
 * Returns a function that makes such connections. They call `onSessions(all)` with all sessions, as pairs
 * with their `ttl`, and `onSession(session, ttl, revision)` when a session begins or ends. `textsOf(value, revision)`
 * translates a message into the texts of ../subscription.js.
 */
function listeningWith(etcd3, connection, names, patience, { onSessions, onSession, textsOf }) {
  let turn = firstTurn()
  return (onMessage, onEnd) => {
    const client = makeStreamClient(etcd3, connection, turn++, patience)
    /** By watch that has not begun yet: the functions that settle its promise. */
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
        // Its id is -1 if etcd has refused to begin it.
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
       * Also reads, since a server cut off from the other servers answers no read. Begins a watch rather than asks for
       * progress: newer servers do not answer that before the first revision that the watches are to show.
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
 * gRPC keeps the process alive while a stream is open, and has no option against that. If another version of gRPC keeps
 * its connection elsewhere, the process stays alive until engine.close().
 */
function unrefStream(stream) {
  stream.call?.call?.channel?.currentPicker?.subchannel?.child?.transport?.session?.unref?.()
}

module.exports = { listeningWith }
