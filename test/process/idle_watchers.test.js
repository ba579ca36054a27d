'use strict'
// onIdle() and close() do not wait for callers of waitForUnlock(), who do not want the lock.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedSemaphore, Mutex, Semaphore } = require('../..')
const { fakeWorld } = require('../cluster/helpers/fake_world.js')
const { freshName, useAgents, within } = require('../helpers/agents.js')
const { isPending } = require('../helpers/closable.js')
const { useHosts } = require('../helpers/hosts.js')

const kinds = {
  Mutex: (options) => [new Mutex(options)],
  Semaphore: (options) => [new Semaphore(1, options)],
  KeyedMutex: (options) => [new KeyedMutex(options), 'key'],
  KeyedSemaphore: (options) => [new KeyedSemaphore(1, options), 'key'],
}

/** Lets a worker hold the lock. Resolves to a function that lets it go. */
async function holdInWorker(worker, kind, options) {
  const args = kind.endsWith('Semaphore') ? '1, workerData' : 'workerData'
  const key = kind.startsWith('Keyed') ? "'key'" : ''
  const other = worker(options)
  await other.does(`my.given = await new boxoffice.${kind}(${args}).acquire(${key})`)
  return () => other.does('(my.given.release ?? my.given[1])()')
}

const scopes = {
  process() {
    const start = useAgents()
    return async (kind) => {
      const options = { name: freshName() }
      return { options, letGo: await holdInWorker(start, kind, options) }
    }
  },
  host() {
    const hosts = useHosts()
    const start = useAgents()
    return async (kind) => {
      const options = { scope: 'host', name: freshName(), directory: hosts.directory }
      return { options, letGo: await holdInWorker(start, kind, options) }
    }
  },
  engine() {
    const world = fakeWorld()
    return async (kind) => {
      const name = freshName()
      const [lock, ...key] = kinds[kind]({ engine: await world.newEngine(), name })
      const given = await lock.acquire(...key)
      return {
        options: { engine: await world.newEngine(), name },
        letGo: given.release ?? given[1],
      }
    }
  },
}

for (const [scope, begin] of Object.entries(scopes)) {
  describe(`onIdle() and close() in scope ${scope}, while another one holds the lock`, () => {
    const hold = begin()

    for (const kind of Object.keys(kinds)) {
      it(`resolve when a ${kind} is left to a caller of waitForUnlock()`, async () => {
        const { options, letGo } = await hold(kind)
        const [lock, ...key] = kinds[kind](options)
        const watching = lock.waitForUnlock(...key)
        const controller = new AbortController()
        const waiting = lock.acquire(...key, { signal: controller.signal })
        const idle = lock.onIdle()
        assert.ok(await isPending(idle))
        controller.abort()
        await assert.rejects(waiting, { name: 'AbortError' })
        await within(5000, idle)
        await within(5000, lock.onIdle())
        await within(5000, lock.close())
        assert.ok(await isPending(watching))
        await letGo()
        await within(5000, watching)
      })
    }
  })
}
