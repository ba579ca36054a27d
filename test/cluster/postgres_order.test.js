'use strict'
// The order of commands that PostgreSQL gets on several connections.
const assert = require('node:assert/strict')
const { makeDriver } = require('../../lib/cluster/postgres/driver.js')

/** The latest pool: a driver makes one of the class that it is given. */
let pool

/** A pool without a server: each command waits until the test answers it. */
class Pool {
  Client = class Client {}
  options = {}
  idleCount = 1
  asked = []

  constructor() {
    pool = this
  }

  query({ text, values }) {
    return new Promise((resolve) => {
      const step = /_(enter|leave)_/.exec(text)[1]
      const answer = () => resolve({ rows: [{ state: 'refused', resting: 'f' }] })
      this.asked.push({ command: `${step} ${values[1]}`, answer })
    })
  }

  on() {}
  async end() {}
}

const key = 'k'
const times = { claim: 1000, maxHold: 1000, minHold: 0 }

describe('Commands to PostgreSQL', () => {
  let driver
  const turn = () => new Promise(setImmediate)
  const leave = (id) => driver.leave({ key, id, keep: 0, untold: false, unused: false, ...times })
  const enter = (id) =>
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
  const commands = () => pool.asked.map(({ command }) => command)
  beforeEach(() => {
    driver = makeDriver(new Pool(), {})
  })

  it('enter only when every earlier release of the key has been executed', async () => {
    const leaving = [leave('s-1'), leave('s-2')]
    const entered = enter('s-3')
    await turn()
    assert.deepEqual(commands(), ['leave s-1', 'leave s-2'])
    pool.asked[1].answer()
    await turn()
    assert.equal(pool.asked.length, 2)
    pool.asked[0].answer()
    await Promise.all(leaving)
    await turn()
    assert.deepEqual(commands(), ['leave s-1', 'leave s-2', 'enter s-3'])
    pool.asked[2].answer()
    await entered
  })
})
