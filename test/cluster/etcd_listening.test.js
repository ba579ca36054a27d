'use strict'
// The connection that listens to etcd, with a fake stream of watches: a server ends or refuses watches on its own.
const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { listeningWith } = require('../../lib/cluster/etcd/listening.js')
const { namesUnder } = require('../../lib/cluster/etcd/names.js')

const names = namesUnder('boxoffice')

/** A stream whose server grants each watch, unless `refuses(range)`, and answers no progress request. */
class Watches extends EventEmitter {
  ids = new Map()

  constructor(refuses) {
    super()
    this.refuses = refuses
  }

  write({ create_request: begun, cancel_request: ended }) {
    if (begun !== undefined) {
      const isRefused = this.refuses(`${begun.key}`)
      if (!isRefused) this.ids.set(`${begun.key}`, begun.watch_id)
      this.answer(isRefused ? '-1' : begun.watch_id, { created: true, canceled: isRefused })
    }
    if (ended !== undefined) this.answer(ended.watch_id, { canceled: true })
  }

  answer(id, what) {
    const nothing = { created: false, canceled: false, cancel_reason: 'no token', events: [] }
    setImmediate(() => this.emit('data', { ...nothing, watch_id: id, ...what }))
  }

  cancel() {}
}

/** { connection, stream, ends }, where `ends` are the errors by which the connection has ended. */
function connect(refuses = () => false) {
  const stream = new Watches(refuses)
  class Etcd3 {
    kv = { range: async () => ({ kvs: [], header: { revision: '7' } }) }
    watchClient = { watch: async () => stream }
    close() {}
  }
  const listener = { onSessions() {}, onSession() {}, textsOf: () => [] }
  const ends = []
  const make = listeningWith({ Etcd3 }, { hosts: ['h'] }, names, 1000, listener)
  const connection = make(
    () => {},
    (error) => ends.push(error),
  )
  return { connection, stream, ends }
}

describe('the connection that listens to etcd', () => {
  it('ends when the server ends the watch of messages', async () => {
    const { connection, stream, ends } = connect()
    await connection.open()
    await connection.listen('one')
    stream.answer(stream.ids.get(`${names.to('one')}`), { canceled: true })
    await new Promise(setImmediate)
    assert.match(ends[0].message, /has ended a watch: no token/)
  })

  it('rejects and ends when the server refuses a watch', async () => {
    const { connection, ends } = connect((key) => key === `${names.to('two')}`)
    await connection.open()
    await connection.listen('one')
    await assert.rejects(connection.listen('two'), /no token/)
    assert.equal(ends.length, 1)
  })

  it('goes on when it has stopped a watch itself', async () => {
    const { connection, ends } = connect()
    await connection.open()
    await connection.listen('one')
    await connection.listen('two')
    await connection.stop('one')
    await connection.ping()
    await new Promise(setImmediate)
    assert.deepEqual(ends, [])
  })

  it('is answered a ping by a server that sends no progress', async () => {
    const { connection, ends } = connect()
    await connection.open()
    await connection.listen('one')
    for (let i = 0; i < 3; i++) await connection.ping()
    assert.deepEqual(ends, [])
  })
})
