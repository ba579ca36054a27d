'use strict'
// Events and conditions in one thread, against models: an array of waiters, and a flag.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { AutoResetEvent, ManualResetEvent } = require('../..')
const { playCondition, steps } = require('../helpers/condition_model.js')
const { settled } = require('../helpers/keyed.js')

/** `all`: whether set() admits all waiters, and lasts. */
class EventModel {
  isSet = false
  queue = []
  through = []

  constructor(all) {
    this.all = all
  }

  wait(id, priority) {
    if (this.tryWait()) this.through.push(id)
    else this.queue.push({ id, priority })
    this.queue.sort((a, b) => b.priority - a.priority)
  }

  tryWait() {
    const was = this.isSet
    this.isSet = was && this.all
    return was
  }

  set() {
    const next = this.queue.splice(0, this.all ? Infinity : 1)
    this.through.push(...next.map(({ id }) => id))
    this.isSet = this.all || next.length === 0
  }

  abort(id) {
    this.queue = this.queue.filter((one) => one.id !== id)
  }
}

describe('events and conditions, against models', function () {
  this.timeout(60_000)

  for (const Event of [AutoResetEvent, ManualResetEvent]) {
    it(`${Event.name} acts as its model`, async () => {
      const all = Event === ManualResetEvent
      const play = async (shared, script) => {
        const event = new Event({ shared })
        const model = new EventModel(all)
        const seen = []
        const controllers = []
        for (const { op, priority, which } of script) {
          if (op === 'wait') {
            const id = controllers.length
            controllers.push(new AbortController())
            const { signal } = controllers[id]
            event.wait({ priority, signal }).then(
              () => seen.push(id),
              () => {},
            )
            model.wait(id, priority)
          } else if (op === 'abort') {
            controllers[which]?.abort()
            model.abort(which)
          } else if (op === 'set') {
            all ? event.set() : event.signal()
            model.set()
          } else if (op === 'all' && all) {
            event.reset()
            model.isSet = false
          } else if (op === 'tryWait') {
            assert.equal(event.tryWait(), model.tryWait())
          }
          await settled()
          assert.deepEqual(seen, model.through)
          assert.equal(event.isSet(), model.isSet)
        }
        // They would keep the process alive, because other threads could set a shared event.
        for (const controller of controllers) controller.abort()
      }
      await fc.assert(fc.asyncProperty(fc.boolean(), steps, play), { numRuns: 300 })
    })
  }

  it('ConditionVariable acts as its model', async () => {
    const play = (shared, script) => playCondition((Kind) => new Kind({ shared }), script)
    await fc.assert(fc.asyncProperty(fc.boolean(), steps, play), { numRuns: 300 })
  })
})
