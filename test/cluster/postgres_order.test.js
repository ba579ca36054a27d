'use strict'
// The order of commands that PostgreSQL gets on several connections.
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { makeDriver } = require('../../lib/cluster/postgres/driver.js')

/** Whether the clients of the test send a command before the answer of the one before. */
let pipeline
/** The latest pool: a driver makes one of the class that it is given. */
let pool

/** A connection without a server: each command waits until the test answers it. */
class Client {
  pipeline = pipeline
  asked = []
  isLent = true

  query({ text, values }, done) {
    const step = /_(enter|leave)_/.exec(text)[1]
    const answer = (error) => done(error, { rows: [{ state: 'refused', resting: 'f' }] })
    this.asked.push({ command: `${step} ${values[1]}`, answer })
  }

  release(error) {
    this.isLent = false
    this.releasedWith = error
  }
}

class Pool {
  Client = Client
  options = {}
  idleCount = 1
  clients = []

  constructor() {
    pool = this
  }

  async connect() {
    this.clients.push(new Client())
    return this.clients.at(-1)
  }

  query() {}
  on() {}
  async end() {}
}

const times = { claim: 1000, maxHold: 1000, minHold: 0 }

describe('Commands to PostgreSQL', () => {
  let driver
  const turn = () => new Promise(setImmediate)
  const leave = (id, key = 'k') =>
    driver.leave({ key, id, keep: 0, untold: false, unused: false, ...times })
  const enter = (id, key = 'k') =>
    driver.enter({
      session: 's',
      key,
      id,
      units: 2,
      capacity: 2,
      wait: false,
      first: false,
      ...times,
    })
  const commands = () =>
    pool.clients.map(({ asked }) => asked.map(({ command }) => command).join(', '))
  const answer = async (client, number, error) => {
    pool.clients[client].asked[number].answer(error)
    await turn()
  }
  const begin = (isPipeline, options) => {
    pipeline = isPipeline
    driver = makeDriver(new Pool(), options)
  }

  it('follow those of their key at once on one connection, in a pipeline', async () => {
    begin(true, {})
    const all = [leave('s-1'), leave('s-2'), enter('s-3'), enter('s-4', 'other')]
    await turn()
    assert.deepEqual(commands(), ['leave s-1, leave s-2, enter s-3', 'enter s-4'])
    for (const number of [0, 1, 2]) {
      assert.ok(pool.clients[0].isLent)
      await answer(0, number)
    }
    await answer(1, 0)
    await Promise.all(all)
    assert.deepEqual(
      pool.clients.map(({ isLent, releasedWith }) => [isLent, releasedWith]),
      [
        [false, undefined],
        [false, undefined],
      ],
    )
  })

  it('wait for the answers to those of their key without a pipeline', async () => {
    begin(undefined, {})
    const all = [leave('s-1'), leave('s-2'), enter('s-3')]
    await turn()
    assert.deepEqual(commands(), ['leave s-1'])
    await answer(0, 0)
    assert.deepEqual(commands(), ['leave s-1, leave s-2'])
    await answer(0, 1)
    assert.deepEqual(commands(), ['leave s-1, leave s-2, enter s-3'])
    await answer(0, 2)
    await Promise.all(all)
  })

  it('begin anew when none of their key is under way', async () => {
    begin(true, {})
    const left = leave('s-1')
    await turn()
    await answer(0, 0)
    await left
    const entered = enter('s-2')
    await turn()
    assert.deepEqual(commands(), ['leave s-1', 'enter s-2'])
    await answer(1, 0)
    await entered
  })

  it('leave the only connection to another key after some', async () => {
    begin(true, { connections: 1 })
    const many = Array.from({ length: 20 }, (_, i) => enter(`s-${i}`))
    const other = enter('o', 'other')
    await turn()
    assert.equal(pool.clients[0].asked.length, 16)
    for (let i = 0; i < 16; i++) await answer(0, i)
    assert.deepEqual(commands().slice(1), ['enter o'])
    await answer(1, 0)
    await other
    assert.deepEqual(commands().slice(2), ['enter s-16, enter s-17, enter s-18, enter s-19'])
    for (let i = 0; i < 4; i++) await answer(2, i)
    await Promise.all(many)
  })

  it('take another connection after one that failed, when those under way have their answers', async () => {
    begin(true, {})
    const failed = assert.rejects(leave('s-1'), { message: 'cut' })
    const entered = enter('s-2')
    await turn()
    await answer(0, 0, new Error('cut'))
    await failed
    const next = enter('s-3')
    await turn()
    assert.deepEqual(commands(), ['leave s-1, enter s-2'])
    await answer(0, 1)
    assert.equal(pool.clients[0].releasedWith.message, 'cut')
    assert.deepEqual(commands(), ['leave s-1, enter s-2', 'enter s-3'])
    await answer(1, 0)
    await Promise.all([entered, next])
  })

  describe('that wait for a connection', () => {
    const answerTimeout = 200
    let first
    let second
    let waiting
    beforeEach(async () => {
      begin(true, { connections: 1, answerTimeout })
      ;[first, second] = [enter('s-1'), enter('s-2')]
      waiting = enter('o', 'other')
      await turn()
      await sleep(answerTimeout * 0.6)
      await answer(0, 0)
      await first
    })

    it('go on when one has failed that the server has answered in time', async () => {
      await sleep(answerTimeout * 0.6)
      await Promise.all([assert.rejects(second), answer(0, 1, new Error('lock timeout'))])
      await answer(1, 0)
      await waiting
    })

    it('fail with one that a silent server has not answered', async () => {
      await sleep(answerTimeout * 1.1)
      const silence = { message: /no answer/ }
      await Promise.all([
        assert.rejects(second, silence),
        assert.rejects(waiting, silence),
        answer(0, 1, new Error('no answer')),
      ])
      assert.equal(pool.clients.length, 1)
    })
  })
})
