'use strict'
// What the contract of engines (contract.js) needs of its world: engines over one server, what the server has answered
// them, and time. It is the time of the server: real, or that of a virtual clock.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { EventEmitter, once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { KeyedMutex } = require('../../..')
const clocks = require('../../../lib/cluster/clock.js')
const { Engine } = require('../../../lib/cluster/engine.js')
const { warmUp } = require('./warm_up.js')

/** With a real server, time passes by itself. See VirtualClock. */
const realTime = {
  isVirtual: false,
  now: clocks.now,
  pass: sleep,
  until: (promise) => promise,
}

/**
 * `setUp()` resolves to { driver(), stop() }: drivers for one server, each as if of its own process. With a virtual clock
 * `time`, there is also `outside`, that of a Hub.
 */
function contractWorld(setUp) {
  let server
  /** Engines of one test, and engines shared by all tests: each has a thread, which is slow to start. */
  const engines = []
  const shared = []
  /** 'waiting' when the server has queued a request, and 'wanted' when it has told a holder that others wait. */
  const news = new EventEmitter()
  /** The keys that it has told their holders of. */
  const wanted = new Set()
  /** By key, by request: when the command was sent that the server answered with a lease, and how long that is safe. */
  const leases = new Map()

  before(async function () {
    this.timeout(60_000)
    server = await setUp()
  })
  after(async () => {
    await closeAll(shared)
    await server?.stop()
  })
  afterEach(() => closeAll(engines.splice(0)))

  const now = () => (server.time ?? realTime).now()
  const time = {
    now,
    pass: (ms) => (server.time ?? realTime).pass(ms),
    until: (promise) => (server.time ?? realTime).until(promise),
  }
  const isVirtual = () => server.time !== undefined

  const closeAll = (all) => time.until(Promise.all(all.map((engine) => engine.close())))

  const make = (options) => new Engine(noting(server.driver()), options, server.outside)

  /** A new engine, with a session. */
  async function engine(options) {
    const made = make(options)
    engines.push(made)
    await warmUp(new KeyedMutex({ engine: made }))
    return made
  }

  /** The result of `use(engine, i)` for each of so many engines, which have sessions that outlast any stall. */
  async function several(count, use) {
    while (shared.length < count) shared.push(make())
    const some = shared.slice(0, count)
    // Idle connections may have been closed.
    await Promise.all(some.map((engine) => warmUp(new KeyedMutex({ engine }))))
    return some.map(use)
  }

  function noting(driver) {
    for (const name of ['enter', 'confirm']) {
      if (driver[name] === undefined) continue
      const send = driver[name].bind(driver)
      driver[name] = async (request) => {
        const sent = now()
        const answer = await send(request)
        if (answer.state === 'waiting') news.emit('waiting')
        if (answer.state === 'held') note(request, sent)
        return answer
      }
    }
    const listen = driver.listen.bind(driver)
    driver.listen = (session, listener) => {
      const hearWanted = (key) => {
        wanted.add(key)
        news.emit('wanted')
        listener.wanted(key)
      }
      return listen(session, { ...listener, wanted: hearWanted })
    }
    return driver
  }

  function note({ key, id, maxHold }, sent) {
    if (!leases.has(key)) leases.set(key, new Map())
    leases.get(key).set(id, { sent, until: sent + clocks.safely(maxHold) })
  }

  /** The leases of the lock of that key or name, { sent, until }, in the order of their requests. */
  function leasesOf(name) {
    for (const [key, all] of leases) if (key.includes(name)) return [...all.values()]
    return []
  }

  /** Resolves when a holder has been told that others wait for `key`. */
  async function isTold(key) {
    while (![...wanted].some((one) => one.includes(key))) await once(news, 'wanted')
  }

  /** { promise }: that of `ask()`. Resolves when the server has queued its request. */
  async function inLine(ask) {
    const queued = once(news, 'waiting')
    const promise = ask()
    await queued
    return { promise }
  }

  /** Whether it is pending after the server has answered to further commands. */
  async function isPending(promise) {
    let isSettled = false
    const end = () => {
      isSettled = true
    }
    promise.then(end, end)
    const [mutex] = await several(1, (engine) => new KeyedMutex({ engine }))
    await mutex.runExclusive(randomUUID(), () => {})
    return !isSettled
  }

  /**
   * Resolves to the grant of `next`. The signal of the holder before must have aborted by then. A process that stood
   * still at that time may read the grant before it runs timers that are due; but then the holder's time was over.
   */
  async function afterLoss(signal, { until }, next) {
    const grant = await time.until(next)
    const at = now()
    if (!signal.aborted) {
      assert.ok(!isVirtual() && until <= at, `not lost, ${until - at} ms before its end`)
      await once(signal, 'abort')
    }
    return grant
  }

  const asking = { inLine, isTold, isPending, leasesOf, afterLoss }
  return { engine, several, time, driver: () => server.driver(), ...asking }
}

module.exports = { contractWorld }
