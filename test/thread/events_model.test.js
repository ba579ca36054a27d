'use strict'
// Events and conditions in one thread, against models that are an array of who waits, and a flag.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { AutoResetEvent, ConditionVariable, ManualResetEvent, Mutex } = require('../..')
const { settled } = require('../helpers/keyed.js')

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('wait'), priority: fc.integer({ max: 2, min: 0 }) }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('abort'), which: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.constant({ op: 'set' }) },
  { weight: 1, arbitrary: fc.constant({ op: 'all' }) },
  { weight: 1, arbitrary: fc.constant({ op: 'tryWait' }) },
)
const steps = fc.array(step, { maxLength: 40, size: 'max' })

/** `all`: whether setting lets all through, and stays. */
class EventModel {
  isSet = false
  line = []
  through = []

  constructor(all) {
    this.all = all
  }

  wait(id, priority) {
    if (this.tryWait()) this.through.push(id)
    else this.line.push({ id, priority })
    this.line.sort((a, b) => b.priority - a.priority)
  }

  tryWait() {
    const was = this.isSet
    this.isSet = was && this.all
    return was
  }

  set() {
    const next = this.line.splice(0, this.all ? Infinity : 1)
    this.through.push(...next.map(({ id }) => id))
    this.isSet = this.all || next.length === 0
  }

  abort(id) {
    this.line = this.line.filter((one) => one.id !== id)
  }
}

describe('events and conditions, against models', function () {
  this.timeout(60_000)

  for (const Event of [AutoResetEvent, ManualResetEvent]) {
    it(`${Event.name}`, async () => {
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
        // Else they would keep the process alive: others could set what has been shared.
        for (const controller of controllers) controller.abort()
      }
      await fc.assert(fc.asyncProperty(fc.boolean(), steps, play), { numRuns: 300 })
    })
  }

  it('ConditionVariable', async () => {
    const play = async (shared, script) => {
      const mutex = new Mutex({ shared })
      const condition = new ConditionVariable({ shared })
      const controllers = []
      const seen = []
      const expected = []
      let line = []
      for (const { op, which } of script) {
        if (op === 'wait') {
          const id = controllers.length
          controllers.push(new AbortController())
          const { signal } = controllers[id]
          const release = await mutex.acquire()
          const over = (how) => () => {
            seen.push(`${id}${how}`)
            release()
          }
          condition.wait(mutex, { signal }).then(over(''), over('!'))
          line.push(id)
        } else if (op === 'abort') {
          controllers[which]?.abort()
          if (line.includes(which)) expected.push(`${which}!`)
          line = line.filter((id) => id !== which)
        } else if (op === 'set' || op === 'all') {
          op === 'all' ? condition.notifyAll() : condition.notifyOne()
          expected.push(...line.splice(0, op === 'all' ? Infinity : 1).map(String))
        } else if (op === 'tryWait') {
          const held = mutex.tryAcquire()
          assert.ok(held)
          held()
        }
        await settled()
        assert.deepEqual(seen, expected)
        assert.equal(mutex.isLocked(), false)
      }
      for (const controller of controllers) controller.abort()
    }
    await fc.assert(fc.asyncProperty(fc.boolean(), steps, play), { numRuns: 300 })
  })
})
