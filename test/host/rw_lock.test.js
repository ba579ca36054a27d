'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { KeyedMutex, KeyedRWLock, RWLock } = require('../..')
const { useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')
const { itOnPosix } = require('../helpers/skip.js')

/** Whether a child has ended with all its threads; this event loop may not have noticed yet. */
function isDead(pid) {
  const state = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)[0]
  return state === 'Z' && fs.readdirSync(`/proc/${pid}/task`).length === 1
}

/** The locks of the kernel on the FIFOs of the members of `directory`: which processes it counts as alive. */
function slotsInUse(directory) {
  const locks = fs.readFileSync('/proc/locks', 'latin1').split('\n')
  const fifos = fs
    .readdirSync(directory, { recursive: true })
    .filter((name) => name.includes('fifo-'))
  return fifos.flatMap((name) => {
    const { ino } = fs.statSync(`${directory}/${name}`)
    return locks.filter((lock) => lock.includes(`:${ino} `)).map((lock) => `${name}: ${lock}`)
  })
}

const turn = () => new Promise(setImmediate)

describe('An RWLock of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const open = (name, options) =>
    new RWLock({ scope: 'host', name, directory: hosts.directory, ...options })
  const openThere = (name) =>
    `my.lock = new boxoffice.RWLock({ scope: 'host', name: ${JSON.stringify(name)}, allowBlockingMainThread: true });`
  const waiters = async (lock, count) => {
    while (lock.snapshot().waiterPids.length < count) await turn()
  }

  it('admits readers of all processes together, or one writer', async () => {
    const name = freshName()
    const lock = open(name)
    const host = hosts.start()
    const [one, two] = await Promise.all([lock.acquireRead(), lock.acquireRead()])
    await host.does(`${openThere(name)} my.read = await my.lock.acquireRead()`)
    assert.equal(lock.readers, 3)
    assert.equal(lock.isWriteLocked(), false)
    const writing = host.does('my.write = await my.lock.acquireWrite(); return my.lock.readers')
    await waiters(lock, 1)
    assert.equal(lock.tryAcquireRead(), undefined) // behind the writer
    one()
    two()
    await host.does('my.read()')
    assert.equal(await within(30_000, writing), 0)
    assert.equal(lock.isWriteLocked(), true)
    const reading = [lock.acquireRead(), lock.acquireRead()]
    await waiters(lock, 1)
    await host.does('my.write()')
    for (const read of await within(30_000, Promise.all(reading))) read()
    assert.deepEqual(lock.snapshot(), {
      readers: 0,
      written: false,
      waiting: 0,
      holderPids: [],
      waiterPids: [],
    })
  })

  it('admits readers of other processes while the event loop of an invited one is blocked', async () => {
    const name = freshName()
    const lock = open(name)
    const host = hosts.start()
    const write = await lock.acquireWrite()
    await host.does(`${openThere(name)} my.reading = my.lock.acquireRead()`)
    await waiters(lock, 1)
    const gate = path.join(hosts.directory, 'gate')
    await host.does(
      `setImmediate(() => { while (!require("node:fs").existsSync(${JSON.stringify(gate)})); })`,
    )
    const reading = lock.acquireRead()
    write()
    const read = await within(30_000, reading)
    read()
    fs.writeFileSync(gate, '')
    await host.does('(await my.reading)()')
    fs.rmSync(gate)
  })

  it('upgrades one reader at a time after readers of other processes have gone, and downgrades', async () => {
    const name = freshName()
    const lock = open(name)
    const host = hosts.start()
    const read = await lock.acquireRead()
    await host.does(`${openThere(name)} my.read = await my.lock.acquireRead()`)
    assert.equal(read.tryUpgrade(), undefined)
    const upgrading = read.upgrade()
    await turn()
    assert.equal(await host.does('return codeOf(() => my.read.upgrade())'), 'ERR_LOCK_UPGRADE')
    await host.does('my.read()')
    const write = await within(30_000, upgrading)
    assert.equal(lock.isWriteLocked(), true)
    assert.equal(await host.does('return my.lock.tryAcquireRead() === undefined'), true)
    const again = write.downgrade()
    assert.equal(await host.does('my.read = my.lock.tryAcquireRead(); return my.lock.readers'), 2)
    again()
    await host.does('my.read()')
    assert.equal(lock.isLocked(), false)
  })

  it('waits give up and block, and dead writers are reported, not dead readers', async () => {
    const name = freshName()
    const lock = open(name, { allowBlockingMainThread: true })
    const host = hosts.start()
    await host.does(`${openThere(name)} my.write = my.lock.acquireWriteSync()`)
    assert.throws(() => lock.acquireReadSync({ timeout: 5 }), { code: 'ERR_LOCK_TIMEOUT' })
    await assert.rejects(lock.acquireRead({ timeout: 5 }), { code: 'ERR_LOCK_TIMEOUT' })
    const waiting = lock.acquireRead()
    await waiters(lock, 1)
    await host.dies()
    const read = await within(30_000, waiting)
    assert.equal(read.abandoned, true)
    assert.equal(typeof read.fencingToken, 'bigint')
    read()
    const late = await lock.acquireRead()
    late()
    assert.equal(late.fencingToken, undefined)
    const other = hosts.start()
    await other.does(`${openThere(name)} await my.lock.acquireRead()`)
    const writing = lock.acquireWrite()
    await waiters(lock, 1)
    await other.dies()
    const write = await within(30_000, writing)
    assert.equal(write.abandoned, false)
    write()
    assert.equal(lock.isLocked(), false)
  })

  it('rejects a lone upgrade by cancel(), and admits others after it', async () => {
    const locks = new KeyedRWLock({ scope: 'host', name: freshName(), directory: hosts.directory })
    const single = open(freshName())
    const cancels = [
      [() => single.acquireRead(), (reason) => single.cancel(reason)],
      [() => locks.acquireRead('a'), (reason) => locks.cancel('a', reason)],
      [() => locks.acquireRead('a'), (reason) => locks.cancelAll(reason)],
    ]
    for (const [read, cancel] of cancels) {
      const [one, two] = [await read(), await read()]
      const reason = new Error('the server stops')
      const upgraded = assert.rejects(one.upgrade(), reason)
      await turn()
      cancel(reason)
      await upgraded
      const three = await within(30_000, read())
      for (const release of [one, two, three]) release()
    }
  })

  itOnPosix('upgrades at once after the death of another upgrader', async () => {
    const name = freshName()
    // Cleaning up after the dead process goes through these keys first, which takes a while.
    const many = { scope: 'host', name: freshName(), directory: hosts.directory, capacity: 2 ** 20 }
    new KeyedMutex(many)
    const lock = open(name)
    let read = await lock.acquireRead()
    for (let round = 0; round < 5; round++) {
      const host = hosts.start()
      await host.does(`my.many = new boxoffice.KeyedMutex(${JSON.stringify(many)})`)
      await host.does(`${openThere(name)} my.read = await my.lock.acquireRead()`)
      host.does('await my.read.upgrade()').catch(() => {})
      // A pending upgrade keeps new readers out.
      for (let one = lock.tryAcquireRead(); one !== undefined; one = lock.tryAcquireRead()) {
        one()
        await turn()
      }
      host.child.kill('SIGKILL')
      while (!isDead(host.pid));
      const write = await within(30_000, read.upgrade()).catch((cause) => {
        throw new Error(`round ${round}, slots ${slotsInUse(hosts.directory)}`, { cause })
      })
      assert.equal(write.abandoned, false)
      read = write.downgrade()
      await host.ends()
    }
    read()
    assert.equal(lock.isLocked(), false)
  })

  it('stays consistent when an upgrader dies', async () => {
    const name = freshName()
    const lock = open(name)
    const host = hosts.start()
    const read = await lock.acquireRead()
    await host.does(`${openThere(name)} my.read = await my.lock.acquireRead()`)
    // A pending upgrade keeps new readers out.
    host.does('await my.read.upgrade()').catch(() => {})
    for (let one = lock.tryAcquireRead(); one !== undefined; one = lock.tryAcquireRead()) {
      one()
      await turn()
    }
    await host.dies()
    // When readers are admitted again, the death has been noticed.
    let again = lock.tryAcquireRead()
    for (; again === undefined; again = lock.tryAcquireRead()) await turn()
    again()
    const write = await within(30_000, read.upgrade())
    write()
    assert.equal(lock.isLocked(), false)
  })
})
