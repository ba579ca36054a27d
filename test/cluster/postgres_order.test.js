'use strict'
// The order of commands that PostgreSQL gets on several connections.
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { Commands } = require('../../lib/cluster/commands.js')
const { makeDriver } = require('../../lib/cluster/postgres/driver.js')
const { Lines } = require('../../lib/cluster/postgres/lines.js')

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

  async query({ text, values }) {
    this.queried = `${/_(confirm)_/.exec(text)[1]} ${values[1]}`
    return { rows: [{ is_held: 't', wanted: 'f' }] }
  }

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

  it('confirm a grant at once, on another connection', async () => {
    begin(true, {})
    const left = leave('s-1')
    await turn()
    await driver.confirm({ key: 'k', id: 's-2', maxHold: 1000 })
    assert.equal(pool.queried, 'confirm s-2')
    await answer(0, 0)
    await left
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

  it('begin anew, whenever the one before has been answered', async () => {
    for (let depth = 0; depth < 10; depth++) {
      begin(true, {})
      const left = leave('s-1')
      await turn()
      pool.clients[0].asked[0].answer()
      for (let i = 0; i < depth; i++) await null
      const entered = enter('s-2')
      await turn()
      assert.deepEqual(commands(), ['leave s-1', 'enter s-2'])
      await answer(1, 0)
      await Promise.all([left, entered])
    }
  })

  it('leave the only connection to another key after some', async () => {
    begin(true, { connections: 1 })
    const many = Array.from({ length: 6 }, (_, i) => enter(`s-${i}`))
    const other = enter('o', 'other')
    await turn()
    assert.deepEqual(commands(), ['enter s-0, enter s-1, enter s-2, enter s-3'])
    for (let i = 0; i < 4; i++) {
      assert.equal(pool.clients.length, 1)
      await answer(0, i)
    }
    assert.deepEqual(commands().slice(1), ['enter o'])
    await answer(1, 0)
    await other
    assert.deepEqual(commands().slice(2), ['enter s-4, enter s-5'])
    for (let i = 0; i < 2; i++) await answer(2, i)
    await Promise.all(many)
  })

  it('release a key ahead of a thousand requests for other keys', async () => {
    begin(true, { connections: 1 })
    const all = [enter('u-0', 'under way'), enter('s-0')]
    for (let i = 0; i < 1000; i++) all.push(enter(`o-${i}`, `other ${i}`))
    all.push(leave('s-0'), leave('s-1', 'another'))
    await turn()
    // The request of the same key stays ahead of the release.
    const order = ['enter u-0', 'enter s-0, leave s-0', 'leave s-1', 'enter o-0']
    await answer(0, 0)
    for (const number of [0, 1]) await answer(1, number)
    await answer(2, 0)
    assert.deepEqual(commands(), order)
    for (let i = 3; i < 1003; i++) await answer(i, 0)
    await Promise.all(all)
  })

  it('of a request are sent soon, however many keys are released and acquired again', async () => {
    begin(true, { connections: 1 })
    let isAnswered = false
    const busy = Array.from('abcd', async (key) => {
      for (let i = 0; !isAnswered; i++)
        await Promise.all([leave(`${key}-${i}`, key), enter(`${key}-${i + 1}`, key)])
    })
    await turn()
    const rare = enter('r-0', 'rare').then(() => {
      isAnswered = true
    })
    for (let client = 0; client < 12; client++)
      for (const { answer } of pool.clients[client]?.asked ?? []) {
        answer()
        await turn()
      }
    assert.ok(isAnswered, commands().join('; '))
    await Promise.all([rare, ...busy])
  })

  it('keep their order, whenever they come', async () => {
    for (let depth = 0; depth < 10; depth++) {
      begin(true, { connections: 1 })
      const all = Array.from({ length: 5 }, (_, i) => enter(`s-${i}`))
      await turn()
      for (let i = 0; i < 3; i++) await answer(0, i)
      pool.clients[0].asked[3].answer()
      for (let i = 0; i < depth; i++) await null
      all.push(leave('s-4'))
      await turn()
      assert.deepEqual(commands().slice(1), ['enter s-4, leave s-4'])
      for (let i = 0; i < 2; i++) await answer(1, i)
      await Promise.all(all)
    }
  })

  it('tell of each answer of the server, and of no failure without one', async () => {
    begin(true, {})
    let answers = 0
    const lines = new Lines(pool, new Commands(1, 1000, assert.fail), 1000, () => answers++)
    const command = { text: 'SELECT * FROM leases_enter_9()', values: ['k', 's'] }
    const [first, ...others] = Array.from({ length: 3 }, () => lines.send('k', command))
    const failed = others.map((one) => assert.rejects(one))
    await turn()
    await answer(0, 0)
    await first
    await answer(0, 1, Object.assign(new Error('lock timeout'), { severity: 'ERROR' }))
    await answer(0, 2, new Error('cut'))
    await Promise.all(failed)
    assert.equal(answers, 2)
  })

  it('report why a statement has not been prepared', async () => {
    begin(true, {})
    const error = (message, code) => Object.assign(new Error(message), { code })
    const all = [enter('s-1'), enter('s-2')].map((one) =>
      assert.rejects(one, { message: 'there is no such schema' }),
    )
    await turn()
    await answer(0, 0, error('there is no such schema', '3F000'))
    await answer(0, 1, error('prepared statement does not exist', '26000'))
    await Promise.all(all)
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
