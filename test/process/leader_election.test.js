'use strict'
// LeaderElection as it works in every scope; test/host and test/cluster cover other processes and
// servers.
const assert = require('node:assert/strict')
const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { LeaderElection } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { turn, watch } = require('../helpers/promises.js')

const open = (name = freshName()) => new LeaderElection({ scope: 'process', name })
const untilAborted = (signal) => once(signal, 'abort').then(() => 'stopped')

describe('A LeaderElection', () => {
  it('leads until the callback returns, and resolves to its result', async () => {
    const election = open()
    assert.equal(election.isLeader, false)
    let isEarly = true
    const led = election.lead(async (signal, term) => {
      assert.equal(isEarly, false)
      assert.equal(election.isLeader, true)
      assert.equal(signal.aborted, false)
      assert.deepEqual([term.abandoned, term.fencingToken], [false, undefined])
      return 'done'
    })
    isEarly = false
    assert.equal(await led, 'done')
    assert.equal(election.isLeader, false)
    assert.equal(await election.lead(() => 'again'), 'again')
  })

  it('tells the next leader of a death when it is stopped before its callback runs', async () => {
    const name = freshName()
    const worker = new Worker(
      `const { LeaderElection } = require(${JSON.stringify(require.resolve('../..'))})
      const election = new LeaderElection({ scope: 'process', name: ${JSON.stringify(name)} })
      election.lead(() => {
        require('node:worker_threads').parentPort.postMessage('leads')
        return new Promise(() => setInterval(() => {}, 1000))
      })`,
      { eval: true },
    )
    await once(worker, 'message')
    await worker.terminate()
    const controller = new AbortController()
    const stopped = open(name).lead(() => assert.fail('it led'), { signal: controller.signal })
    controller.abort()
    await stopped
    const told = () => open(name).lead((_signal, { abandoned }) => abandoned)
    assert.equal(await told(), true)
    assert.equal(await told(), false)
  })

  it('has one leader at a time, and hands over in the order of the calls', async () => {
    const name = freshName()
    const log = []
    const lead = (who) =>
      open(name).lead(async () => {
        log.push(`${who} in`)
        await turn()
        log.push(`${who} out`)
      })
    await Promise.all(['a', 'b', 'c'].map(lead))
    assert.deepEqual(log, ['a in', 'a out', 'b in', 'b out', 'c in', 'c out'])
  })

  it('is a different lock from a Mutex of its name', async () => {
    const { Mutex } = require('../..')
    const name = freshName()
    const result = await open(name).lead(() => new Mutex({ name }).runExclusive(() => 'in'))
    assert.equal(result, 'in')
  })

  it('resigns when the callback throws, and rejects with its error', async () => {
    const name = freshName()
    const error = new Error('no')
    const thrower = () => {
      throw error
    }
    await assert.rejects(open(name).lead(thrower), error)
    await assert.rejects(
      open(name).lead(async () => thrower()),
      error,
    )
    assert.equal(await open(name).lead(() => 'in'), 'in')
  })

  it("aborts the callback's signal when its own is aborted, and resigns after the callback", async () => {
    const name = freshName()
    const [one, other] = [open(name), open(name)]
    const stop = new AbortController()
    let end
    let told
    const led = one.lead(
      (signal) =>
        new Promise((resolve) => {
          end = resolve
          signal.addEventListener('abort', () => {
            told = signal.reason
          })
        }),
      { signal: stop.signal },
    )
    const next = watch(other.lead(() => 'next'))
    await turn()
    assert.equal(one.isLeader, true)
    stop.abort('enough')
    assert.deepEqual([told, one.isLeader], ['enough', false])
    await turn()
    assert.equal(next.state, 'pending', 'the callback has not ended')
    end('last')
    assert.equal(await led, 'last')
    await turn()
    assert.equal(next.value, 'next')
  })

  it('treats an AbortError as the requested end, and every other error as a failure', async () => {
    const reason = new Error('enough')
    const throws = {
      reason,
      cause: new Error('stopped', { cause: reason }),
      AbortError: new DOMException('stopped', 'AbortError'),
    }
    const leadUntil = (error) => {
      const stop = new AbortController()
      return open().lead(
        (signal) => {
          stop.abort(reason)
          assert.equal(signal.aborted, true)
          throw error
        },
        { signal: stop.signal },
      )
    }
    for (const error of Object.values(throws)) assert.equal(await leadUntil(error), undefined)
    await assert.rejects(leadUntil(new Error('broken')), /broken/)
    await assert.rejects(leadUntil(undefined), (error) => error === undefined)
    // No signal has aborted here.
    await assert.rejects(
      open().lead(() => {
        throw throws.AbortError
      }),
      throws.AbortError,
    )
  })

  it('never runs a callback whose signal was aborted while it waited', async () => {
    const name = freshName()
    const called = () => assert.fail('called')
    assert.equal(await open(name).lead(called, { signal: AbortSignal.abort() }), undefined)
    const holder = open(name)
    const led = holder.lead(untilAborted)
    const stop = new AbortController()
    const waiting = open(name).lead(called, { signal: stop.signal })
    await turn()
    stop.abort()
    assert.equal(await waiting, undefined)
    await holder.close()
    assert.equal(await led, 'stopped')
    // At the moment of its grant.
    const watched = new LeaderElection({ scope: 'process', name, diagnostics: 'counters' })
    const last = new AbortController()
    const abort = () => last.abort()
    subscribe('boxoffice:admit', abort)
    assert.equal(await watched.lead(called, { signal: last.signal }), undefined)
    unsubscribe('boxoffice:admit', abort)
    assert.equal(last.signal.aborted, true)
    assert.equal(await open(name).lead(() => 'free'), 'free')
  })

  it('resigns on close(), which waits for the callback, and ends waits', async () => {
    const name = freshName()
    const one = open(name)
    const log = []
    const led = one.lead(async (signal) => {
      await once(signal, 'abort')
      await turn()
      log.push(signal.reason.code)
      return 'last'
    })
    const waiting = one.lead(() => assert.fail('called'))
    await turn()
    const [first, second] = [one.close(), one.close()]
    await Promise.all([first.then(() => log.push('closed')), second])
    assert.deepEqual(log, ['ERR_LOCK_CLOSED', 'closed'])
    assert.equal(await open(name).lead(() => 'next'), 'next')
    assert.deepEqual([await led, await waiting], ['last', undefined])
    await one.close()
    await assert.rejects(
      one.lead(() => {}),
      { code: 'ERR_LOCK_CLOSED', message: /^the leader election "/ },
    )
  })

  it('is closed by asynchronous disposal, also if it has never led', async () => {
    const election = open()
    await election[Symbol.asyncDispose]()
    await assert.rejects(
      election.lead(() => {}),
      { code: 'ERR_LOCK_CLOSED' },
    )
  })

  it('close() does not reject for a callback that throws', async () => {
    const election = open()
    const led = election.lead(async (signal) => {
      await once(signal, 'abort')
      throw new Error('broken')
    })
    await turn()
    await Promise.all([election.close(), assert.rejects(led, /broken/)])
  })

  it('leaves no listener on a long-lived signal', async () => {
    const { getEventListeners } = require('node:events')
    const { signal } = new AbortController()
    const election = open()
    for (let i = 0; i < 3; i++) await election.lead(() => {}, { signal })
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('leads in place of a terminated thread', async () => {
    const { Worker } = require('node:worker_threads')
    const name = freshName()
    const worker = new Worker(
      `const { parentPort, workerData: name } = require('node:worker_threads')
       const { LeaderElection } = require(${JSON.stringify(require.resolve('../..'))})
       new LeaderElection({ scope: 'process', name }).lead(() => {
         parentPort.postMessage('leads')
         return new Promise(() => setInterval(() => {}, 1000))
       })`,
      { eval: true, workerData: name },
    )
    await once(worker, 'message')
    const led = watch(open(name).lead((_, { abandoned }) => abandoned))
    await turn() // it is queued
    assert.equal(led.state, 'pending')
    await worker.terminate()
    while (led.state === 'pending') await turn()
    assert.equal(led.value, true)
  })
})

describe('Invalid arguments of LeaderElection', () => {
  const refused = [
    [undefined, TypeError, /options must be an object/],
    [null, TypeError, /options must be an object/],
    [{}, TypeError, /name must be a string/],
    [{ name: 1, scope: 'process' }, TypeError, /name must be a string/],
    [{ name: '', scope: 'process' }, RangeError, /name must not be empty/],
    [{ name: 'a' }, TypeError, /needs its scope: \{ scope: 'host' \}/],
    [{ name: 'a', scope: 'machine' }, TypeError, /scope must be/],
    [{ name: 'a', engine: {} }, TypeError, /engine must be what redis/],
    [{ name: 'a', scope: 'process', directory: '/tmp' }, TypeError, /directory/],
    [{ name: 'a', scope: 'process', ttl: 1 }, TypeError, /unknown option "ttl"/],
    [{ name: 'a', scope: 'process', capacity: 1 }, TypeError, /unknown option "capacity"/],
  ]
  for (const [options, Kind, message] of refused) {
    it(`throw at once: ${JSON.stringify(options)}`, () => {
      assert.throws(
        () => new LeaderElection(options),
        (error) => error.constructor === Kind && message.test(error.message),
      )
    })
  }

  it('reject for a missing callback and invalid options, without leading', async () => {
    const election = open()
    const called = () => assert.fail('called')
    await assert.rejects(election.lead(), TypeError)
    await assert.rejects(election.lead('callback'), TypeError)
    for (const options of [null, 5, { signal: 'stop' }, { signal: null }, { timeout: 5 }]) {
      await assert.rejects(election.lead(called, options), TypeError)
    }
    assert.equal(election.isLeader, false)
    assert.equal(await election.lead(() => 'free'), 'free')
  })

  it('name the scope host when another scope cannot report the leader', () => {
    assert.throws(() => open('watched').leader(), {
      code: 'ERR_LOCK_UNSUPPORTED',
      message: /^the leader election "watched" cannot name the leader outside scope 'host'/,
    })
  })
})
