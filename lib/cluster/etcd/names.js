'use strict'
// The keys in etcd, after the prefix of an engine:
//
//   version               the protocol of all processes that use these names, written with the first session
//   epoch                 the epoch of the data (view.js), written with the first session
//   session/<session>     exists as long as the session
//   process/<session>     the host and the pid of its process, for operators
//   to/<session>          the last message to the session, which watches this key for the next one
//   lock/<key>            the holders; exists while there are holders, or a lost holder that no caller was told of
//   queue/<key>/<id>      a request in the queue, which is ordered by create revision
//   upgrade/<key>         the request of a reader that upgrades, which goes ahead of the queue
//   gone/<id>             marks a request that has left, although its command to enter may still reach a server
//   rest/<key>            exists while no request is admitted, after a grant with a minHold

/** The version of the names above and their values. Processes of different versions cannot share a prefix. */
const protocol = 1

/** Escapes '/', so that the queue of one key contains no request of another. */
const asPart = (key) => key.replaceAll('%', '%25').replaceAll('/', '%2F')

const sessionOf = (id) => id.slice(0, id.lastIndexOf('-'))

function namesUnder(prefix) {
  const key = (...parts) => Buffer.from([prefix, ...parts].join('/'))
  return {
    prefix,
    version: key('version'),
    epoch: key('epoch'),
    session: (session) => key('session', session),
    sessions: () => ({ key: key('session', ''), range_end: key('session0') }),
    process: (session) => key('process', session),
    to: (session) => key('to', session),
    lock: (lock) => key('lock', asPart(lock)),
    entry: (lock, id) => key('queue', asPart(lock), id),
    /** '0' comes after '/'. */
    queue: (lock) => ({
      key: key('queue', asPart(lock), ''),
      range_end: key('queue', `${asPart(lock)}0`),
    }),
    upgrade: (lock) => key('upgrade', asPart(lock)),
    gone: (id) => key('gone', id),
    rest: (lock) => key('rest', asPart(lock)),
  }
}

/** The last part of a name. */
const lastOf = (name) => {
  const text = name.toString()
  return text.slice(text.lastIndexOf('/') + 1)
}

module.exports = { lastOf, namesUnder, protocol, sessionOf }
