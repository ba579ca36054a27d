'use strict'
// Diagnostics keep nothing of the past that grows with the number of operations.
const assert = require('node:assert/strict')
const { AsyncResource } = require('node:async_hooks')
const { KeyedMutex, Mutex, Semaphore } = require('../..')
const { live } = require('../helpers/heap.js')

const diagnostics = true
/** More than the largest number kept, of which half are dropped at once. */
const steps = 12_000
const counted = 'holds and waits of one turn after the other, with counters'

// Each holds a lock while `step` runs again and again in its chain.
const ways = {
  async 'a lock that is held until the next one is'(goOn) {
    const locks = new KeyedMutex({ diagnostics })
    let release = await locks.acquire(0)
    await goOn(async (i) => {
      const next = await locks.acquire(1 + (i % 10))
      release()
      release = next
    })
    release()
  },
  async 'a limit of jobs'(goOn) {
    const semaphore = new Semaphore(3, { diagnostics })
    const job = async () => {
      await null
      await null
    }
    await goOn(async () => {
      const [, release] = await semaphore.acquire()
      job().finally(release)
    })
  },
  async 'a line that never ends, beside a hold that lasts'(goOn) {
    const semaphore = new Semaphore(2, { diagnostics })
    const first = await semaphore.acquire()
    let [, release] = await semaphore.acquire()
    const lasting = semaphore.acquire()
    let next = semaphore.acquire()
    first[1]()
    const [, end] = await lasting
    await goOn(async () => {
      const after = semaphore.acquire()
      release()
      release = (await next)[1]
      next = after
    })
    release()
    release = (await next)[1]
    release()
    end()
  },
  async [counted](goOn) {
    const semaphore = new Semaphore(2, { diagnostics: 'counters' })
    const [, first] = await semaphore.acquire()
    let [, release] = await semaphore.acquire()
    await goOn(async () => {
      const next = semaphore.acquire()
      await new Promise(setImmediate)
      release()
      release = (await next)[1]
    })
    release()
    first()
  },
  async 'functions that are called inside of a hold'(goOn) {
    const mutex = new Mutex({ diagnostics })
    const work = async () => {
      await null
    }
    await mutex.runExclusive(() => goOn(work))
  },
  async 'resources that are destroyed inside of a hold'(goOn) {
    const mutex = new Mutex({ diagnostics })
    await mutex.runExclusive(() =>
      goOn(async () => {
        new AsyncResource('pool', { requireManualDestroy: true }).emitDestroy()
        setTimeout(() => {}, 1)
        await new Promise(setImmediate)
      }),
    )
  },
  async 'resources that outlast their holds'(goOn) {
    const mutex = new Mutex({ diagnostics })
    const resources = new Array(10)
    await goOn((i) =>
      mutex.runExclusive(() => {
        resources[i % 10] = new AsyncResource('pool')
      }),
    )
  },
  async 'promises that never settle'(goOn) {
    const mutex = new Mutex({ diagnostics })
    await goOn(() => mutex.runExclusive(() => Promise.race([new Promise(() => {}), null])))
  },
}

describe('Watched locks', function () {
  this.timeout(60_000)

  for (const [title, way] of Object.entries(ways)) {
    it(`keep nothing of the past: ${title}`, () =>
      way(async (step) => {
        const repeat = async (count) => {
          for (let i = 0; i < count; i++) await step(i)
        }
        await repeat(steps)
        const before = await live()
        await repeat(steps)
        const grown = (await live()).objects - before.objects
        // Of a step that is kept, 5 objects or more are; the steps that are dropped at once have at most
        // 35,000. Counters keep nothing of a step.
        const most = title === counted ? 0.5 : 4
        assert.ok(grown < steps * most, `${grown} objects`)
      }))
  }
})
