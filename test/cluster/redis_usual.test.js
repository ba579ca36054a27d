'use strict'
// The usual steps in Redis (lib/cluster/redis/usual.js) against the script without them: the same answers and the same state.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { Redis } = require('ioredis')
const { keysOf, sessionOf } = require('../../lib/cluster/redis/names.js')
const script = require('../../lib/cluster/redis/script.js')
const { redisServer } = require('./helpers/servers.js')

const hour = 3_600_000
const claim = 2000
const sessions = ['one', 'two', 'three']

const request = fc.record({ session: fc.nat(2), number: fc.nat(1) })
const hold = fc.constantFrom(20_000, 60_000, 10 * hour)
const units = fc.constantFrom(1, 1, 2)
const minHold = fc.constantFrom(0, 0, 0, 0, 0, 30_000)
const flag = fc.boolean().map(Number)

/** Steps of requests for a key, most of them with one `capacity`. */
function stepsOf(capacity) {
  const total = fc.constantFrom(...Array(9).fill(capacity), 2)
  const entering = fc.tuple(request, total, hold, units, flag, flag, minHold).map(enter)
  const leaving = fc
    .tuple(request, total, fc.constantFrom(0, 0, 0, 1), flag, minHold, flag)
    .map(leave)
  const session = fc.nat(2)
  const rare = ['die', 'live'].map((name) => session.map((one) => ({ step: name, session: one })))
  // An operator deletes one of the two.
  rare.push(fc.constantFrom(1, 2).map((index) => ({ step: 'delete', index })))
  const often = [entering, leaving].map((arbitrary) => ({ weight: 8, arbitrary }))
  const step = fc.oneof(...often, ...rare.map((arbitrary) => ({ weight: 1, arbitrary })))
  return fc.array(step, { minLength: 20, maxLength: 60 })
}

function enter([by, total, maxHold, wanted, wait, first, least]) {
  return { step: 'enter', by, words: [claim, total, maxHold, wanted, wait, first, least] }
}

function leave([by, total, keep, untold, least, unused]) {
  return { step: 'leave', by, words: [claim, total, keep, untold, least, unused] }
}

describe('The usual steps in Redis', function () {
  this.timeout(60_000)
  this.slow(20_000)
  let server
  let client
  let listener
  before(async () => {
    server = await redisServer()
    client = new Redis(server.port, '127.0.0.1')
    listener = new Redis(server.port, '127.0.0.1')
    // A request is granted by a message only if its session hears it.
    await listener.psubscribe('*:to:*')
  })
  after(async () => {
    client.disconnect()
    listener.disconnect()
    await server.close()
  })

  const live = (base, session) =>
    client.set(sessionOf(base, sessions[session]), `a ${hour}`, 'PX', hour)

  /** Runs one step, and resolves to its answer. */
  async function run(text, base, { step, by, session, index, words }) {
    if (step === 'live') return live(base, session)
    if (step === 'die') return client.del(sessionOf(base, sessions[session]))
    const keys = keysOf(base, 'key')
    if (step === 'delete') return client.del(keys[index])
    const id = `${sessions[by.session]}-${by.number}`
    return client.eval(text, keys.length, ...keys, 'key', id, 'PUBLISH', step, ...words)
  }

  /** The state of the key without what depends on when a step came: the order of tokens is in the rest. */
  async function seen(base) {
    const [, state, queue] = keysOf(base, 'key')
    const fields = Object.entries(await client.hgetall(state)).map(([name, value]) => {
      if (name === 'f') return [name, '']
      if (name === 'm') return [name, value.split(' ')[1]]
      return [name, name[0] === 'h' ? value.replace(/^(\d+) \d+ \d+ /, '$1 ') : value]
    })
    return { fields: fields.sort(), queue: await client.lrange(queue, 0, -1) }
  }

  /** The state outlasts its holds by an hour. */
  async function checkLife(base) {
    const [, state] = keysOf(base, 'key')
    const fields = await client.hgetall(state)
    const left = await client.pttl(state)
    const ends = Object.keys(fields).map(
      (name) => name[0] === 'h' && Number(fields[name].split(' ')[1]),
    )
    const longest = Math.max(0, ...ends.map((end) => end && end - Date.now()))
    assert.ok(left === -2 || left > longest + hour - 10_000, `${left} of ${longest}`)
  }

  const withoutTimes = (answer) =>
    answer?.[0] === 'held' ? ['held', ...answer.slice(2)] : [answer?.[0]]

  it('answer as the rest of the script does, and leave the same state', async () => {
    let granted = 0
    let number = 0
    const property = fc.asyncProperty(fc.constantFrom(1, 1, 3).chain(stepsOf), async (all) => {
      const bases = [`{u${++number}}`, `{r${number}}`]
      for (const base of bases) for (const index of sessions.keys()) await live(base, index)
      for (const one of all) {
        const answers = await Promise.all([
          run(script.text, bases[0], one),
          run(script.unusual, bases[1], one),
        ])
        assert.deepEqual(...answers.map(withoutTimes))
        assert.deepEqual(...(await Promise.all(bases.map(seen))))
        await checkLife(bases[0])
        if (answers[0]?.[0] === 'held') granted++
      }
    })
    await fc.assert(property, { numRuns: 400 })
    assert.ok(granted > 800, `${granted}`)
  })

  it('increase the token, also where the clock of the server is behind the last one', async () => {
    for (const what of ['text', 'unusual']) {
      const base = `{behind ${what}}`
      const runOne = (step) => run(script[what], base, step)
      await live(base, 0)
      const [, state] = keysOf(base, 'key')
      const last = `${2 ** 52}`
      await client.hset(state, 'f', last)
      const by = { session: 0, number: 0 }
      const entering = enter([by, 1, 20_000, 1, 1, 0, 0])
      assert.deepEqual(await runOne(entering), ['held', `${2 ** 52 + 1}`, '0', '0'])
      assert.deepEqual(await runOne(leave([by, 1, 0, 1, 0, 0])), [])
      assert.deepEqual(await runOne(entering), ['held', `${2 ** 52 + 2}`, '0', '0'])
    }
  })
})
