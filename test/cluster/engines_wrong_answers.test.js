'use strict'
// Answers and messages of a driver that engine.d.ts does not allow.
const assert = require('node:assert/strict')
const { KeyedMutex } = require('../..')
const { Engine } = require('boxoffice/engine')
const { timedWorld } = require('./helpers/fake_world.js')

const never = new Promise(() => {})

describe('Wrong answers of a driver', () => {
  const world = timedWorld()
  const { newEngine } = world

  const wrong = {
    'a token that is no bigint': { state: 'held', token: 7, wanted: false, abandoned: false },
    'an unknown state': { state: 'granted' },
    'the state of an upgrade': { state: 'upgrading' },
    'a refusal of a request that waits': { state: 'refused' },
    'no time of the next look': { state: 'waiting' },
  }
  for (const [what, answer] of Object.entries(wrong)) {
    it(`are failures of the driver if they have ${what}`, async () => {
      const { engine, enter } = await answering(answer)
      const waiting = world.clock.until(new KeyedMutex({ engine }).acquire('key'))
      const message = /has not answered .* its driver has answered enter\(\) with the state/
      await assert.rejects(waiting, { code: 'ERR_LOCK_ENGINE', message })
      // It has asked again after a pause each time.
      assert.ok(enter.count < 20, `${enter.count}`)
    })
  }

  it('names what a driver lacks', () => {
    const lacking = (change) => () => world.engineOver({}, () => change)
    assert.throws(() => new Engine(), { message: /driver of an engine must have a method listen/ })
    assert.throws(lacking({ enter: 'now' }), { message: /must have a method enter/ })
    assert.throws(lacking({ name: undefined }), { message: /name of a driver must be a string/ })
    assert.throws(lacking({ keeper: undefined }), { message: /keeper.module of a driver must be/ })
  })

  /** An engine that gets `answer` to each request from now on, and the `count` of these. */
  async function answering(answer) {
    const enter = { count: 0, isWrong: false }
    const engine = await newEngine({ answerTimeout: 800 }, (driver) => ({
      async enter(request) {
        const right = await driver.enter(request)
        if (!enter.isWrong) return right
        // A driver that answers at once would not let the test go on, either.
        if (++enter.count > 20) return never
        return answer
      },
    }))
    enter.isWrong = true
    return { engine, enter }
  }

  it('are requested if a message has a token that is no bigint', async () => {
    const [one, two] = [
      await newEngine(),
      await newEngine({}, (driver) => ({
        listen: (session, listener) =>
          driver.listen(session, {
            ...listener,
            granted: (id, grant) => listener.granted(id, { ...grant, token: Number(grant.token) }),
          }),
      })),
    ]
    const [a, b] = [one, two].map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire('key')
    const next = b.acquire('key')
    await world.queued()
    release()
    assert.equal(typeof (await next).fencingToken, 'bigint')
  })
})
