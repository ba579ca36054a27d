'use strict'
// Concurrent calls of one key share one execution.
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { getEventListeners } = require('node:events')
const fc = require('fast-check')
const { SingleFlight } = require('../..')

/** A promise with its functions. */
function deferred() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}

/**
 * A flight with one execution of 'key' under way: `result` settles it, `signal` is the callback's
 * argument.
 */
async function underWay(options) {
  const flight = new SingleFlight()
  const result = deferred()
  const calls = []
  const work = (signal) => {
    calls.push(signal)
    return result.promise
  }
  const first = flight.do('key', work, options)
  await null
  return { flight, work, calls, result, first }
}

describe('SingleFlight', () => {
  it('gives all concurrent callers the result of one execution', async () => {
    const { flight, work, calls, result, first } = await underWay()
    const others = [flight.do('key', work), flight.do('key', work)]
    const value = {}
    result.resolve(value)
    for (const got of await Promise.all([first, ...others])) assert.equal(got, value)
    assert.equal(calls.length, 1)
    assert.equal(flight.size, 0)
  })

  it('gives all of them its error', async () => {
    const { flight, work, calls, result, first } = await underWay()
    const second = flight.do('key', work)
    const error = new Error('no such user')
    result.reject(error)
    for (const { reason } of await Promise.allSettled([first, second])) {
      assert.equal(reason, error)
    }
    assert.equal(calls.length, 1)
  })

  it('passes on the error of a synchronous callback', async () => {
    const flight = new SingleFlight()
    const broken = flight.do('key', () => {
      throw new RangeError('no such seat')
    })
    await assert.rejects(broken, { name: 'RangeError', message: 'no such seat' })
    assert.equal(flight.size, 0)
  })

  it('begins a new execution once one has settled', async () => {
    const flight = new SingleFlight()
    let count = 0
    const next = () => flight.do('key', () => ++count)
    assert.equal(await next(), 1)
    assert.equal(await next(), 2)
  })

  it('distinguishes the keys 1, "1" and 1n', async () => {
    const flight = new SingleFlight()
    const all = [1, '1', 1n].map((key) => flight.do(key, () => [key]))
    assert.equal(flight.size, 3)
    assert.deepEqual(await Promise.all(all), [[1], ['1'], [1n]])
  })

  it('never calls the callback before do() has returned', async () => {
    const flight = new SingleFlight()
    let isCalled = false
    const done = flight.do('key', () => {
      isCalled = true
    })
    assert.equal(isCalled, false)
    await done
    assert.equal(isCalled, true)
  })

  it('runs in the async context of the first caller', async () => {
    const storage = new AsyncLocalStorage()
    const flight = new SingleFlight()
    const call = () => flight.do('key', () => storage.getStore())
    const both = [storage.run('first', call), storage.run('second', call)]
    assert.deepEqual(await Promise.all(both), ['first', 'first'])
  })
})

describe('a caller of SingleFlight that gives up', () => {
  it('leaves the execution to the others', async () => {
    const { flight, work, calls, result, first } = await underWay()
    const controller = new AbortController()
    const second = flight.do('key', work, { signal: controller.signal })
    controller.abort(new Error('the client has gone'))
    await assert.rejects(second, { message: 'the client has gone' })
    assert.equal(calls[0].aborted, false)
    result.resolve('ada')
    assert.equal(await first, 'ada')
  })

  it('aborts the execution when it is the last one, and the next call begins anew', async () => {
    const controller = new AbortController()
    const { flight, calls, result, first } = await underWay({ signal: controller.signal })
    const reason = new Error('the client has gone')
    controller.abort(reason)
    await assert.rejects(first, reason)
    assert.equal(calls[0].aborted, true)
    assert.equal(calls[0].reason, reason)
    assert.equal(flight.size, 0)

    const second = flight.do('key', () => 'new')
    result.resolve('late')
    assert.equal(await second, 'new')
  })

  it("makes no unhandled rejection of the execution's error", async () => {
    const controller = new AbortController()
    const { result, first } = await underWay({ signal: controller.signal })
    controller.abort()
    await assert.rejects(first, { name: 'AbortError' })
    // mocha fails the run for an unhandled rejection.
    result.reject(new Error('aborted'))
    await new Promise(setImmediate)
  })

  it('rejects at its timeout', async () => {
    const { flight, first, calls } = await underWay({ timeout: 5 })
    await assert.rejects(first, {
      code: 'ERR_LOCK_TIMEOUT',
      message: 'SingleFlight: key "key" had no result within 5 ms',
    })
    assert.equal(calls[0].aborted, true)
    assert.equal(flight.size, 0)
  })

  it('never calls the callback when it gave up in the same turn', async () => {
    const flight = new SingleFlight()
    const controller = new AbortController()
    const done = flight.do('key', () => assert.fail('it was called'), { signal: controller.signal })
    controller.abort()
    await assert.rejects(done, { name: 'AbortError' })
    await new Promise(setImmediate)
  })

  it('begins nothing with a signal that has aborted, or without time', async () => {
    const flight = new SingleFlight()
    const work = () => assert.fail('it was called')
    await assert.rejects(flight.do('key', work, { signal: AbortSignal.abort() }), {
      name: 'AbortError',
    })
    await assert.rejects(flight.do('key', work, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.equal(flight.size, 0)
  })

  it('leaves no listener and no timer', async () => {
    const { signal } = new AbortController()
    const flight = new SingleFlight()
    const all = Array.from({ length: 100 }, () =>
      flight.do('key', () => 1, { signal, timeout: 1e6 }),
    )
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    await Promise.all(all)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})

describe('SingleFlight.forget()', () => {
  it('makes the next call begin anew, while callers keep their execution', async () => {
    const { flight, result, first } = await underWay()
    assert.equal(flight.forget('key'), true)
    assert.equal(flight.forget('key'), false)
    assert.equal(await flight.do('key', () => 'new'), 'new')
    result.resolve('old')
    assert.equal(await first, 'old')
  })

  it('is not undone by the end of the forgotten execution', async () => {
    const { flight, result, first } = await underWay()
    flight.forget('key')
    const later = deferred()
    const second = flight.do('key', () => later.promise)
    result.resolve('old')
    await first
    assert.equal(flight.size, 1)
    later.resolve('new')
    assert.equal(await second, 'new')
  })
})

describe('invalid input to SingleFlight', () => {
  const flight = new SingleFlight()
  const refused = [
    ['a key', () => flight.do(Symbol('a'), () => {}), TypeError],
    ['a callback', () => flight.do('key'), TypeError],
    ['options', () => flight.do('key', () => {}, 5), TypeError],
    ['an option', () => flight.do('key', () => {}, { priority: 1 }), /unknown option "priority"/],
    ['a timeout', () => flight.do('key', () => {}, { timeout: -1 }), RangeError],
    ['a signal', () => flight.do('key', () => {}, { signal: {} }), TypeError],
  ]
  for (const [what, call, error] of refused) {
    it(`rejects ${what}, and begins nothing`, async () => {
      await assert.rejects(call(), error)
      assert.equal(flight.size, 0)
    })
  }

  it('throws for limits that belong to do(), and names it', () => {
    const message = 'SingleFlight takes no options: give timeout and signal to do()'
    for (const options of [{ timeout: 5 }, { signal: new AbortController().signal }, { other: 1 }])
      assert.throws(() => new SingleFlight(options), { name: 'TypeError', message })
    assert.throws(() => new SingleFlight(5), TypeError)
  })

  it('throws for a scope beyond the thread', () => {
    const options = [{ scope: 'process' }, { scope: 'host' }, { name: 'a' }]
    for (const one of [...options, { scope: 'host', name: 'a' }])
      assert.throws(() => new SingleFlight(one), { code: 'ERR_LOCK_UNSUPPORTED' })
  })

  it('names the scopes of Node.js for a scope that there is not', () => {
    assert.throws(() => new SingleFlight({ scope: 'planet' }), /scope must be 'process' or 'host'/)
  })

  it('throws for a key to forget', () => {
    assert.throws(() => flight.forget({}), TypeError)
  })
})

describe('SingleFlight against a model', () => {
  const key = fc.constantFrom('a', 'b')
  const step = fc.oneof(
    fc.record({ do: key }),
    fc.record({ settle: key, isGood: fc.boolean() }),
    fc.record({ leave: fc.nat(20) }),
    fc.record({ forget: key }),
  )

  it('every caller settles once, with the execution that it joined', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), runModel))
  })

  async function runModel(steps) {
    const flight = new SingleFlight()
    /** The execution that the model expects the next call of a key to join. */
    const current = new Map()
    const callers = []
    let count = 0
    const begin = (at) => {
      const run = { id: ++count, result: deferred(), callers: 0, signal: undefined }
      current.set(at, run)
      return run
    }
    const free = (at, run) => {
      if (current.get(at) === run) current.delete(at)
    }
    for (const now of steps) {
      if (now.do !== undefined) {
        const run = current.get(now.do) ?? begin(now.do)
        const controller = new AbortController()
        const work = (signal) => {
          run.signal = signal
          return run.result.promise
        }
        const promise = flight.do(now.do, work, { signal: controller.signal })
        run.callers++
        callers.push({ at: now.do, run, controller, promise: settled(promise), isOver: false })
      } else if (now.settle !== undefined) {
        const run = current.get(now.settle)
        if (run === undefined) continue
        if (now.isGood) run.result.resolve(run.id)
        else run.result.reject(run.id)
        free(now.settle, run)
        for (const caller of callers) {
          if (caller.run !== run || caller.isOver) continue
          caller.isOver = true
          const { status, got } = await caller.promise
          assert.equal(got, run.id)
          assert.equal(status, now.isGood ? 'fulfilled' : 'rejected')
        }
      } else if (now.leave !== undefined) {
        const caller = callers[now.leave]
        if (caller === undefined || caller.isOver) continue
        caller.isOver = true
        caller.controller.abort('left')
        assert.equal((await caller.promise).got, 'left')
        caller.run.callers--
        assert.equal(caller.run.signal?.aborted ?? true, caller.run.callers === 0)
        if (caller.run.callers === 0) free(caller.at, caller.run)
      } else {
        assert.equal(flight.forget(now.forget), current.delete(now.forget))
      }
      assert.equal(flight.size, current.size)
      await null
    }
  }

  const settled = (promise) =>
    promise.then(
      (got) => ({ status: 'fulfilled', got }),
      (got) => ({ status: 'rejected', got }),
    )
})
