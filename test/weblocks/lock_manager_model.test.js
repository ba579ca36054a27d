'use strict'
// The lock manager in one thread, against a model: for each name an array of holders and an array
// of waiters, and the steps of the standard to the letter.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { locks } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')

const names = ['a', 'b']
const which = fc.nat(15)
const request = fc.record({
  op: fc.constantFrom('request', 'request', 'request', 'acquire'),
  name: fc.constantFrom('a', 'a', 'a', 'b'),
  mode: fc.constantFrom('exclusive', 'shared', 'shared'),
  how: fc.constantFrom('wait', 'wait', 'wait', 'wait', 'ifAvailable', 'steal'),
  priority: fc.constantFrom(0, 0, 0, 1),
})
const step = fc.oneof(
  { weight: 6, arbitrary: request },
  { weight: 4, arbitrary: fc.record({ op: fc.constantFrom('release', 'throw'), which }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('abort'), which }) },
  { weight: 2, arbitrary: fc.constant({ op: 'settle' }) },
)

class Model {
  held = { a: [], b: [] }
  queue = { a: [], b: [] }
  /** The outcome of each request, by its id. */
  ends = []

  ask(id, { name, mode, how, priority }) {
    const one = { id, name, mode, priority, isOurs: true }
    const queue = this.queue[name]
    if (how === 'steal') {
      for (const robbed of this.held[name]) this.ends[robbed.id] = 'AbortError'
      this.held[name] = [one]
      return
    }
    const isFirst = queue.every((other) => other.priority < priority)
    if (isFirst && this.#hasRoom(one)) this.held[name].push(one)
    else if (how === 'ifAvailable') this.ends[id] = 'absent'
    else queue.splice(queue.filter((other) => other.priority >= priority).length, 0, one)
  }

  #hasRoom({ name, mode }) {
    const held = this.held[name]
    return held.length === 0 || (mode === 'shared' && held[0].mode === 'shared')
  }

  #without(id, list) {
    const at = list.findIndex((one) => one.id === id)
    if (at !== -1) list.splice(at, 1)
    return at !== -1
  }

  #admit(name) {
    const queue = this.queue[name]
    while (queue.length > 0 && this.#hasRoom(queue[0])) this.held[name].push(queue.shift())
  }

  end(id, how) {
    for (const name of names) {
      if (this.#without(id, this.held[name])) this.ends[id] = how
      this.#admit(name)
    }
  }

  abort(id) {
    for (const name of names) {
      if (this.#without(id, this.queue[name])) this.ends[id] = 'aborted'
      this.#admit(name)
    }
  }

  isHeld(id) {
    return names.some((name) => this.held[name].some((one) => one.id === id))
  }

  snapshot(name) {
    const modes = (list) => list[name].map((one) => one.mode)
    return { held: modes(this.held), pending: modes(this.queue) }
  }
}

/** The same with the real lock manager: requests by their ids. */
class Real {
  all = []
  ends = []
  /** A failed run leaves its locks behind, so each run has names of its own. */
  #title = freshName()

  ask(id, { op, name, mode, how, priority }) {
    const controller = new AbortController()
    const options = { mode, priority }
    const title = this.#title + name
    if (how === 'wait') options.signal = controller.signal
    else options[how] = true
    const one = { controller, isIn: false, settle: undefined }
    this.all[id] = one
    const over = (end) => {
      this.ends[id] ??= end
    }
    const failed = (error) => over(error.name ?? error)
    if (op === 'acquire') {
      locks.acquire(title, options).then((release) => {
        if (release === undefined) return over('absent')
        one.isIn = true
        one.settle = () => {
          if (!release.signal.aborted) over('released')
          release()
        }
        release.signal.addEventListener('abort', () => failed(release.signal.reason))
        if (release.signal.aborted) failed(release.signal.reason)
      }, failed)
      return
    }
    const callback = (lock) => {
      if (lock === null) return 'absent'
      assert.deepEqual([lock.name, lock.mode], [title, mode])
      one.isIn = true
      return new Promise((resolve, reject) => {
        one.settle = (how) => (how === 'throw' ? reject('thrown') : resolve('released'))
      })
    }
    locks.request(title, options, callback).then(over, failed)
  }

  async snapshot(name) {
    const { held, pending } = await locks.query()
    const of = (list) => list.filter((one) => one.name === this.#title + name)
    const modes = (list) => of(list).map((one) => one.mode)
    return { held: modes(held), pending: modes(pending) }
  }
}

describe('the lock manager, against a model', function () {
  this.timeout(60_000)

  async function play(script) {
    const model = new Model()
    const real = new Real()
    let count = 0
    const kinds = []
    const look = async () => {
      for (const name of names) assert.deepEqual(await real.snapshot(name), model.snapshot(name))
      await settled()
      assert.deepEqual(Array.from(real.ends, String), Array.from(model.ends, String))
      for (const [id, one] of real.all.entries()) {
        if (model.isHeld(id)) assert.ok(one.isIn, `${id} is in`)
      }
    }
    for (const given of script) {
      const { op, which } = given
      const id = which === undefined || count === 0 ? undefined : which % count
      if (op === 'request' || op === 'acquire') {
        const isShared = given.how !== 'steal' && given.mode === 'shared'
        const asked = { ...given, mode: isShared ? 'shared' : 'exclusive' }
        kinds[count] = op
        model.ask(count, asked)
        real.ask(count, asked)
        count++
      } else if (op === 'settle') {
        await look()
      } else if (id !== undefined && op === 'abort') {
        // Between grant and callback a signal has other effects: see the tests of signals.
        await settled()
        real.all[id].controller.abort('aborted')
        model.abort(id)
      } else if (id !== undefined) {
        await settled()
        real.all[id].settle?.(op)
        await settled()
        model.end(id, op === 'throw' && kinds[id] === 'request' ? 'thrown' : 'released')
      }
    }
    await look()
    for (const [id, one] of real.all.entries()) {
      one.controller.abort('aborted')
      model.abort(id)
      await settled()
    }
    await look()
    for (const [id, one] of real.all.entries()) {
      one.settle?.('release')
      model.end(id, 'released')
      await settled()
    }
    await look()
  }

  it('grants, refuses, steals and lists as the standard does', () =>
    fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), play), {
      numRuns: scaled(500, 250),
    }))
})
