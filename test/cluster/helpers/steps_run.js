'use strict'
// The operations of engines_steps.test.js, and their steps: see test/helpers/steps_run.js.
const { stepsUntil } = require('../../helpers/steps.js')
const { Mutex, RWLock, Semaphore } = require('../../..')
const { Engine } = require('../../../lib/cluster/engine.js')
const { virtualServer } = require('./fake_world.js')

const few = 20
const many = 640
const ttl = 60_000

/** So many leases, each with a holder. */
async function held(semaphore, n) {
  const tickets = []
  for (let i = 0; i < n; i++) tickets.push(await semaphore.acquire())
  return tickets.map(([, release]) => release)
}

function endAll(releases) {
  for (const release of releases) release()
}

/**
 * By the name of an operation: `prepare(n, world)` makes n others, and returns the operation, whose promise resolves when
 * it has ended, and a function that ends the others.
 */
const operations = {
  async 'a lease that is taken and given back beside held ones'(n, { engine, name }) {
    const semaphore = new Semaphore(2 * n, { engine, name })
    const releases = await held(semaphore, n)
    return {
      async act() {
        const [, release] = await semaphore.acquire()
        release()
      },
      end: () => endAll(releases),
    }
  },
  async 'a hand-off beside held leases'(n, { engine, name }) {
    const semaphore = new Semaphore(n, { engine, name })
    const releases = await held(semaphore, n)
    return {
      async act() {
        const next = semaphore.acquire()
        releases.shift()()
        const [, release] = await next
        releases.push(release)
      },
      end: () => endAll(releases),
    }
  },
  async 'a reader with maxHold beside readers'(n, { engine, name }) {
    const lock = new RWLock({ engine, name, maxHold: 60_000 })
    const releases = []
    for (let i = 0; i < n; i++) releases.push(await lock.acquireRead())
    return {
      async act() {
        const release = await lock.acquireRead()
        release()
      },
      end: () => endAll(releases),
    }
  },
  async 'a lease whose end is the next one beside held leases'(n, { engine, name }) {
    const releases = await held(new Semaphore(2 * n, { engine, name }), n)
    const soon = new Mutex({ engine, name, maxHold: 1000 })
    return {
      async act() {
        const release = await soon.acquire()
        release()
      },
      end: () => endAll(releases),
    }
  },
  async 'the check of a renewed session beside held leases'(n, { engine, name, clock }) {
    const semaphore = new Semaphore(2 * n, { engine, name, maxHold: Infinity })
    const releases = await held(semaphore, n)
    // By now all timers of the waits are over.
    await clock.pass(ttl)
    return { act: () => clock.pass(ttl), end: () => endAll(releases) }
  },
  async 'a call with maxPending beside callers that wait for the server'(n, world) {
    const { semaphore, end } = await waitingForServer(n, world)
    return {
      act: () => semaphore.acquire({ maxPending: 1 }).catch(expect('ERR_LOCK_QUEUE_FULL')),
      end,
    }
  },
  async 'a call that gives up beside callers that wait for the server'(n, world) {
    const { semaphore, end } = await waitingForServer(n, world)
    return {
      async act() {
        const controller = new AbortController()
        const { signal } = controller
        const wait = semaphore.acquire({ signal }).catch(expect(DOMException.ABORT_ERR))
        await world.clock.settle()
        controller.abort()
        await wait
      },
      end,
    }
  },
  async 'a call that times out beside callers that wait for the server'(n, world) {
    const { semaphore, end } = await waitingForServer(n, world)
    return {
      async act() {
        const wait = semaphore.acquire({ timeout: 5 }).catch(expect('ERR_LOCK_TIMEOUT'))
        await world.clock.pass(5)
        await wait
      },
      end,
    }
  },
}

const expect = (expected) => (error) => {
  if (error.code !== expected) throw error
}

/** n callers of a semaphore, each with a request in the server's queue, behind a holder of another engine. */
async function waitingForServer(n, { engine, other, name, clock }) {
  const size = 2 * n
  const [, giveBack] = await new Semaphore(size, { engine: other, name }).acquire(size)
  const semaphore = new Semaphore(size, { engine, name })
  // Each has a lease of its own.
  const waiting = Array.from({ length: n }, () => semaphore.acquire())
  await clock.settle()
  const end = async () => {
    giveBack()
    for (const one of waiting) {
      const [, release] = await clock.until(one)
      release()
    }
  }
  return { semaphore, end }
}

async function main() {
  const { server, clock, outside } = virtualServer()
  const [engine, other] = [1, 2].map(() => new Engine(server.driver(), { ttl }, outside))
  clock.replaceTimers() // for the timeouts of callers
  const all = {}
  for (const [name, prepare] of Object.entries(operations)) {
    all[name] = []
    for (const n of [few, few, many]) {
      const world = { engine, other, clock, name: `${name} ${all[name].length}` }
      const { act, end } = await prepare(n, world)
      await act() // which may have more to do than later ones
      await clock.settle()
      all[name].push(await stepsUntil(act))
      await end()
      await clock.settle()
    }
    all[name].shift()
  }
  for (const one of [engine, other]) await clock.until(one.close())
  server.close()
  console.log(JSON.stringify(all))
}

main()
