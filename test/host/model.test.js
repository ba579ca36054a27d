'use strict'
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { useHosts } = require('../helpers/hosts.js')
const { freshName } = require('../helpers/agents.js')
const { scaled } = require('../helpers/scale.js')

const keys = ['a', 1]
const actors = 3
const patience = 30_000 // ms: for a machine that is busy

/** What a process of the model records: its requests, each waiting, in or over. */
const begin = (name) => `
  my.open = (options) => new boxoffice.KeyedMutex({ scope: 'host', name: ${JSON.stringify(name)}, ...options })
  my.locks = my.open()
  my.all = []
  my.wait = (key, promise, use) => {
    const one = { key, state: 'waiting' }
    my.all.push(one)
    promise.then(
      (value) => Object.assign(one, use(value)),
      (error) => Object.assign(one, { state: error.code }),
    )
  }
  my.ask = (key, options) => my.wait(key, my.locks.acquire(key, options),
    (release) => ({ state: 'in', release, token: release.fencingToken, abandoned: release.abandoned }))
  my.pass = (key) => my.wait(key, my.locks.waitForUnlock(key), () => ({ state: 'over' }))
  my.release = (key) => {
    const one = my.all.find((one) => one.key === key && one.state === 'in')
    if (one === undefined) return false
    one.release()
    one.state = 'over'
    return true
  }
  my.report = () => my.all.map(({ key, state, token, abandoned }) => ({ key, state, token, abandoned }))`

class Model {
  constructor(hosts, name) {
    this.hosts = hosts
    this.name = name
    this.locks = new Map(keys.map((key) => [key, { token: 0n, isTold: true, holder: null }]))
  }

  async begin() {
    this.all = await Promise.all(Array.from({ length: actors }, () => this.start()))
  }

  async start() {
    const host = this.hosts.start()
    await host.does(begin(this.name))
    return host
  }

  /** `count` waiters of one process, each with `timeout`. */
  async ask({ who, key, count = 1, timeout }) {
    const one = `my.ask(${JSON.stringify(key)}, ${JSON.stringify({ timeout })})`
    await this.all[who].does(`for (let i = 0; i < ${count}; i++) ${one}`)
  }

  async pass({ who, key }) {
    await this.all[who].does(`my.pass(${JSON.stringify(key)})`)
  }

  /** From now on the waiters of that process are strictly first come, first served. */
  async beStrict({ who }) {
    await this.all[who].does(`my.open({ fairness: 'fifo' })`)
  }

  async release({ who, key }) {
    const wasIn = await this.all[who].does(`return my.release(${JSON.stringify(key)})`)
    if (wasIn) this.locks.get(key).holder = null
  }

  async cancel({ who, key }) {
    await this.all[who].does(`my.locks.cancel(${JSON.stringify(key)})`)
  }

  async kill({ who }) {
    // Its last reports are known, because settle() came before its death.
    for (const lock of this.locks.values()) {
      if (lock.holder !== who) continue
      lock.holder = null
      lock.isTold = false
    }
    await this.all[who].dies()
    this.all[who] = await this.start()
  }

  /** Waits until every admission due has been made, and checks the invariants. */
  async settle() {
    const late = performance.now() + patience
    for (;;) {
      const reports = await Promise.all(this.all.map((host) => host.does('return my.report()')))
      if (keys.every((key) => this.look(key, reports))) return
      assert.ok(performance.now() < late, `a waiter waits for ever: ${show(reports)}`)
    }
  }

  /** Checks the invariants of `key`. Returns false while a waiter still has to be admitted. */
  look(key, reports) {
    const of = (state) =>
      reports.flatMap((all, who) =>
        all.filter((one) => one.key === key && one.state === state).map((one) => ({ ...one, who })),
      )
    for (const all of reports) {
      const tokens = all.filter((one) => one.key === key && one.token).map(({ token }) => token)
      const inOrder = tokens.toSorted((a, b) => (a < b ? -1 : 1))
      assert.deepEqual(tokens, inOrder, 'a waiter of a process has overtaken another one of it')
    }
    const inside = of('in')
    assert.ok(inside.length <= 1, `two are in: ${show(inside)}`)
    if (inside.length === 0) return of('waiting').length === 0
    const lock = this.locks.get(key)
    const [{ who, token, abandoned }] = inside
    if (token === lock.token) return true
    assert.equal(lock.holder, null, 'a second holder is in beside the first')
    assert.ok(token > lock.token, `${token} after ${lock.token}`)
    assert.equal(abandoned, !lock.isTold)
    Object.assign(lock, { holder: who, token, isTold: true })
    return true
  }
}

const show = (value) =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one))

describe('A KeyedMutex of scope host, against a model', function () {
  this.timeout(120_000)
  const hosts = useHosts()
  const who = fc.nat(actors - 1)
  const key = fc.constantFrom(...keys)
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ method: fc.constant('ask'), who, key }) },
    {
      weight: 3,
      arbitrary: fc.record({
        method: fc.constant('ask'),
        who,
        key,
        count: fc.integer({ min: 2, max: 4 }),
        timeout: fc.constantFrom(undefined, undefined, 0, 5),
      }),
    },
    { weight: 1, arbitrary: fc.record({ method: fc.constant('pass'), who, key }) },
    { weight: 1, arbitrary: fc.record({ method: fc.constant('beStrict'), who }) },
    { weight: 9, arbitrary: fc.record({ method: fc.constant('release'), who, key }) },
    { weight: 1, arbitrary: fc.record({ method: fc.constant('cancel'), who, key }) },
    { weight: 1, arbitrary: fc.record({ method: fc.constant('kill'), who }) },
  )

  it('admits one at a time, admits every waiter, and reports the dead', async () => {
    const run = async (steps) => {
      const model = new Model(hosts, freshName())
      await model.begin()
      for (const one of steps) {
        await model[one.method](one)
        await model.settle()
      }
      await Promise.all(model.all.map((host) => host.dies()))
    }
    const steps = fc.array(step, { minLength: 10, maxLength: 40, size: 'max' })
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: scaled(5, 1), endOnFailure: true })
  })
})
