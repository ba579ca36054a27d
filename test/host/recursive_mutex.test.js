'use strict'
const assert = require('node:assert/strict')
const { Mutex, RecursiveMutex } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')

describe('A RecursiveMutex of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const optionsOf = (name) => ({ scope: 'host', name, directory: hosts.directory })
  const open = (name) => new RecursiveMutex(optionsOf(name))

  /** A process with the mutex of that name. */
  async function visitor(name) {
    const host = await hosts.start()
    await host.does(
      `my.mutex = new boxoffice.RecursiveMutex({ scope: 'host', name: ${JSON.stringify(name)} })`,
    )
    return host
  }

  const waiters = async (mutex, count) => {
    while (mutex.snapshot().waiterPids.length < count) await new Promise(setImmediate)
  }

  it('can be entered again by its holder, and is free after the outermost hold', async () => {
    const mutex = open(freshName())
    await mutex.runExclusive(async () => {
      assert.equal(mutex.isHeld(), true)
      await mutex.runExclusive(() => mutex.runExclusive(() => {}))
      assert.equal(mutex.isLocked(), true)
      assert.deepEqual(mutex.snapshot().holderPids, [process.pid])
    })
    assert.equal(mutex.isHeld(), false)
    assert.equal(mutex.isLocked(), false)
  })

  it('keeps other processes out until the outermost hold has ended', async () => {
    const name = freshName()
    const mutex = open(name)
    const host = await visitor(name)
    let isIn = false
    let theirs
    await mutex.runExclusive(async () => {
      theirs = host.does('await my.mutex.runExclusive(() => {})').then(() => (isIn = true))
      await waiters(mutex, 1)
      await mutex.runExclusive(() => {})
      assert.equal(isIn, false)
    })
    await theirs
  })

  it('goes to the next process when its holder is killed inside a nested call', async () => {
    const name = freshName()
    const mutex = open(name)
    const host = await visitor(name)
    await host.does(`await new Promise((resolve) => {
      my.mutex.runExclusive(() => my.mutex.runExclusive(() => new Promise(resolve)))
    })`)
    const waiting = mutex.runExclusive(() => 'mine')
    assert.deepEqual(mutex.snapshot().holderPids, [host.pid])
    await host.dies()
    assert.equal(await waiting, 'mine')
  })

  it('blocks a thread by runExclusiveSync, which can be entered again', () => {
    const mutex = new RecursiveMutex({ ...optionsOf(freshName()), allowBlockingMainThread: true })
    const value = mutex.runExclusiveSync(() => mutex.runExclusiveSync(() => mutex.isLocked()))
    assert.equal(value, true)
    assert.equal(mutex.isLocked(), false)
  })

  it('is one for two objects, and different from the Mutex of that name', async () => {
    const name = freshName()
    const [one, other] = [open(name), open(name)]
    await one.runExclusive(async () => {
      await new Mutex(optionsOf(name)).runExclusive(() => {})
      await other.runExclusive(() => {})
    })
  })

  it('is named in errors', async () => {
    const name = freshName()
    const mutex = open(name)
    const host = await visitor(name)
    await host.does('my.inside = new Promise((end) => { my.end = end })')
    await host.does(`await new Promise((resolve) => {
      my.mutex.runExclusive(() => { resolve(); return my.inside })
    })`)
    await assert.rejects(
      mutex.runExclusive(() => {}, { timeout: 5 }),
      { code: 'ERR_LOCK_TIMEOUT', message: new RegExp(`^the recursive mutex "${name}"`) },
    )
    await host.does('my.end()')
    await mutex.runExclusive(() => {})
  })
})
