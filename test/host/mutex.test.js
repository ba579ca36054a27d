'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const { once } = require('node:events')
const { Mutex } = require('../..')
const { useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')
const { itOnPosix } = require('../helpers/skip.js')

const entry = require.resolve('../..')

describe('A Mutex of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const open = (name, options) =>
    new Mutex({ scope: 'host', name, directory: hosts.directory, ...options })
  const openThere = (name, options) =>
    `my.mutex = new boxoffice.Mutex({ scope: 'host', name: ${JSON.stringify(name)}, ...${JSON.stringify(options ?? {})} });`
  /** Resolves when `count` processes wait for it. */
  const waiters = async (mutex, count) => {
    while (mutex.snapshot().waiterPids.length < count) await new Promise(setImmediate)
  }

  it('is one for two objects of a thread', async () => {
    const name = freshName()
    const [one, other] = [open(name), open(name)]
    await one.lock()
    assert.equal(other.isLocked(), true)
    assert.equal(other.tryLock(), false)
    const waiting = other.acquire()
    one.unlock()
    const release = await waiting
    assert.equal(release.abandoned, false)
    assert.equal(one.isLocked(), true)
    release()
    assert.equal(one.isLocked(), false)
    assert.deepEqual(one.snapshot(), { locked: false, waiting: 0, holderPids: [], waiterPids: [] })
  })

  it('is different from those of other names, kinds and scopes', async () => {
    const name = freshName()
    const one = open(name)
    await one.lock()
    assert.equal(open(`${name} too`).isLocked(), false)
    assert.equal(new Mutex({ name }).isLocked(), false)
    one.unlock()
  })

  it('is another one for a name that differs in the case of letters only', async () => {
    const name = freshName()
    const [one, other] = [`${name}-Seats`, `${name}-seats`].map((each) => open(each))
    const release = await one.acquire()
    assert.equal(other.isLocked(), false)
    release()
  })

  it('takes names that are not valid file names', async () => {
    const long = freshName() + 'x'.repeat(5000)
    const names = ['../up', '/etc/passwd', '.', 'a\0b', 'ä ö 🎭', '%2e%2e', long, `${long}y`]
    const all = names.map((name) => open(name))
    for (const mutex of all) assert.equal(mutex.tryLock(), true)
    for (const mutex of all) mutex.unlock()
  })

  it('keeps other processes out, and hands over to them', async () => {
    const name = freshName()
    const mutex = open(name)
    const host = hosts.start()
    const release = await mutex.acquire()
    assert.deepEqual(
      await host.does(`${openThere(name)}
        return [my.mutex.isLocked(), my.mutex.tryLock(), my.mutex.snapshot().holderPids]`),
      [true, false, [process.pid]],
    )
    const there = host.does('my.release = await my.mutex.acquire(); return my.release.abandoned')
    await waiters(mutex, 1)
    assert.deepEqual(mutex.snapshot(), {
      locked: true,
      waiting: 0,
      holderPids: [process.pid],
      waiterPids: [host.pid],
    })
    release()
    assert.equal(await there, false)
    assert.deepEqual(mutex.snapshot().holderPids, [host.pid])
    const back = mutex.acquire()
    await waiters(mutex, 1)
    await host.does('my.release()')
    ;(await back)()
    assert.equal(mutex.isLocked(), false)
  })

  it('blocks threads of other processes', async () => {
    const name = freshName()
    const mutex = open(name, { allowBlockingMainThread: true })
    const host = hosts.start()
    await mutex.lock()
    const there = host.does(`${openThere(name, { allowBlockingMainThread: true })}
      return codeOf(() => my.mutex.lockSync({ timeout: 5 }))`)
    assert.equal(await there, 'ERR_LOCK_TIMEOUT')
    assert.deepEqual(mutex.snapshot().waiterPids, [])
    const later = host.does(`my.mutex.lockSync(); setTimeout(() => my.mutex.unlock(), 20)`)
    await waiters(mutex, 1)
    mutex.unlock()
    await later
    mutex.lockSync()
    assert.throws(() => mutex.lockSync({ timeout: 1000 }), {
      code: 'ERR_LOCK_DEADLOCK',
      message: /held by this thread/,
    })
    mutex.unlock()
    assert.throws(() => mutex.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
  })

  it('is shared by worker threads of several processes', async () => {
    const name = freshName()
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      const { Mutex } = require(${JSON.stringify(entry)})
      const mutex = new Mutex({ scope: 'host', name: ${JSON.stringify(name)}, directory: workerData })
      for (let i = 0; i < 50; i++) { mutex.lockSync(); mutex.unlock() }
      ;(async () => {
        for (let i = 0; i < 50; i++) { const release = await mutex.acquire(); await null; release() }
        parentPort.postMessage('done')
      })()`
    const host = hosts.start()
    const there = host.does(`${openThere(name)}
      const { Worker } = require('node:worker_threads')
      const worker = new Worker(${JSON.stringify(code)}, { eval: true, workerData: process.env.BOXOFFICE_DIRECTORY })
      for (let i = 0; i < 50; i++) await my.mutex.runExclusive(() => turn())
      await new Promise((resolve) => worker.once('exit', resolve))`)
    const worker = new Worker(code, { eval: true, workerData: hosts.directory })
    const ended = once(worker, 'exit')
    const mutex = open(name)
    for (let i = 0; i < 50; i++) await mutex.runExclusive(() => new Promise(setImmediate))
    await Promise.all([there, ended])
    assert.deepEqual(mutex.snapshot(), {
      locked: false,
      waiting: 0,
      holderPids: [],
      waiterPids: [],
    })
  })

  it('a waiter gives up by timeout, signal and cancel while another process holds it', async () => {
    const name = freshName()
    const host = hosts.start()
    await host.does(`${openThere(name)} await my.mutex.lock()`)
    const mutex = open(name)
    await assert.rejects(mutex.lock({ timeout: 5 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message: `the mutex ${JSON.stringify(name)} was not available within 5 ms; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it`,
    })
    await assert.rejects(mutex.lock({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    const controller = new AbortController()
    const aborted = mutex.lock({ signal: controller.signal })
    controller.abort(new Error('no more'))
    await assert.rejects(aborted, /no more/)
    const cancelled = mutex.acquire()
    mutex.cancel()
    await assert.rejects(cancelled, { code: 'ERR_LOCK_CANCELED' })
    assert.deepEqual(mutex.snapshot().waiterPids, [])
    assert.throws(() => mutex.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
    await host.does('my.mutex.unlock()')
    assert.equal(mutex.isLocked(), false)
  })

  it('tells the next holder that the last one was killed', async () => {
    const name = freshName()
    const host = hosts.start()
    await host.does(`${openThere(name)} await my.mutex.lock()`)
    const mutex = open(name)
    const next = mutex.acquire()
    await host.dies()
    const release = await within(30_000, next)
    assert.equal(release.abandoned, true)
    release()
    const after = await mutex.acquire()
    assert.equal(after.abandoned, false)
    after()
  })

  it('tells the next caller of a death, if there is no waiter', async () => {
    const name = freshName()
    const host = hosts.start()
    await host.does(`${openThere(name)} await my.mutex.lock()`)
    await host.dies()
    const release = await within(30_000, open(name).acquire())
    assert.equal(release.abandoned, true)
    release()
  })

  itOnPosix('passes on a grant to a process that was killed while it waited', async () => {
    const name = freshName()
    const mutex = open(name)
    const [one, other] = [hosts.start(), hosts.start()]
    const release = await mutex.acquire()
    one.does(`${openThere(name)} await my.mutex.lock()`).catch(() => {})
    await waiters(mutex, 1)
    const there = other.does(`${openThere(name)} await my.mutex.lock()`)
    await waiters(mutex, 2)
    await one.stops()
    release()
    await one.dies()
    assert.equal(await within(30_000, there), undefined)
  })

  it('reports a process that exits while it holds, and not one that has released', async () => {
    const name = freshName()
    const mutex = open(name)
    const one = hosts.start()
    await one.does(`${openThere(name)} await my.mutex.lock()`)
    const next = mutex.acquire()
    one.does('process.exit(0)').catch(() => {})
    assert.equal((await one.ends())[1], null) // not by a signal
    const release = await within(30_000, next)
    assert.equal(release.abandoned, true)
    release()
    const other = hosts.start()
    await other.does(`${openThere(name)} await my.mutex.lock(); my.mutex.unlock()`)
    other.does('process.exit(0)').catch(() => {})
    assert.equal((await other.ends())[1], null)
    const clean = await mutex.acquire()
    assert.equal(clean.abandoned, false)
    clean()
  })

  it('reports a worker thread that ended while it held, to another process', async () => {
    const name = freshName()
    const host = hosts.start()
    const code = `
      const { parentPort } = require('node:worker_threads')
      const { Mutex } = require(${JSON.stringify(entry)})
      const mutex = new Mutex({ scope: 'host', name: ${JSON.stringify(name)} })
      mutex.lock().then(() => parentPort.postMessage('held'))
      setInterval(() => {}, 1000)`
    await host.does(`
      const { Worker } = require('node:worker_threads')
      my.worker = new Worker(${JSON.stringify(code)}, { eval: true })
      await new Promise((resolve) => my.worker.once('message', resolve))`)
    const next = open(name).acquire()
    await host.does('await my.worker.terminate()')
    const release = await within(30_000, next)
    assert.equal(release.abandoned, true)
    release()
  })

  itOnPosix('SIGSTOP does not count as a death', async () => {
    const name = freshName()
    const host = hosts.start()
    await host.does(`${openThere(name)} await my.mutex.lock()`)
    await host.stops()
    const mutex = open(name)
    await assert.rejects(mutex.lock({ timeout: 100 }), { code: 'ERR_LOCK_TIMEOUT' })
    host.child.kill('SIGCONT')
    await host.does('my.mutex.unlock()')
    await mutex.lock()
    mutex.unlock()
  })

  it('gives tokens that increase across holders, and only to current ones', async () => {
    const name = freshName()
    const mutex = open(name)
    let last = 0n
    const more = (token) => {
      assert.equal(typeof token, 'bigint')
      assert.ok(token > last, `${token} after ${last}`)
      last = token
    }
    for (let i = 0; i < 3; i++) {
      const release = await mutex.acquire()
      more(release.fencingToken)
      assert.equal(release.fencingToken, last)
      release()
      assert.equal(release.fencingToken, last)
    }
    const host = hosts.start()
    more(await host.does(`${openThere(name)} return (await my.mutex.acquire()).fencingToken`))
    await host.dies()
    const late = await mutex.acquire()
    late()
    assert.equal(late.fencingToken, undefined)
    const release = mutex.tryAcquire()
    more(release.fencingToken)
    release()
  })

  it('is fair to other processes: a process that keeps coming back lets them in', async () => {
    const name = freshName()
    const host = hosts.start()
    const mutex = open(name)
    await host.does(openThere(name))
    let isOver = false
    const busy = (async () => {
      while (!isOver) await mutex.runExclusive(() => new Promise(setImmediate))
    })()
    for (let i = 0; i < 5; i++) {
      await within(30_000, host.does('await my.mutex.lock({ timeout: 20_000 }); my.mutex.unlock()'))
    }
    isOver = true
    await busy
  })

  it('does not overtake a waiter that is strictly first come, first served', async () => {
    const mutex = open(freshName(), { directory: path.join(hosts.directory, 'strict') })
    const file = fs
      .readdirSync(path.join(hosts.directory, 'strict'), { recursive: true })
      .find((one) => one.endsWith('.lock'))
    const word = fs.openSync(path.join(hosts.directory, 'strict', file), 'r+')
    // The state that another process may leave: free, and its waiter is on its way.
    const write = (bits) => {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(bits)
      fs.writeSync(word, bytes, 0, 8, 4096)
    }
    const line = 1n
    const strict = 1n << 60n
    write(line | strict)
    assert.equal(mutex.tryLock(), false)
    write(line)
    assert.equal(mutex.tryLock(), true)
    mutex.unlock()
    fs.closeSync(word)
    assert.equal(mutex.isLocked(), false)
  })

  it('strict waiter of another thread is next, though this thread has just got the lock', async () => {
    const name = freshName()
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      const { Mutex } = require(${JSON.stringify(entry)})
      const mutex = new Mutex(workerData)
      mutex.acquire().then((release) => {
        parentPort.postMessage('held')
        parentPort.once('message', () => {
          mutex.acquire().then((last) => {
            parentPort.postMessage(last.fencingToken)
            last()
          })
          release()
        })
      })`
    const workerData = { scope: 'host', name, directory: hosts.directory, fairness: 'fifo' }
    const worker = new Worker(code, { eval: true, workerData })
    // Listen from the start: its last message and its exit may come in one turn of the event loop.
    const ended = once(worker, 'exit')
    await once(worker, 'message')
    const mutex = open(name)
    const first = mutex.acquire().then((release) => release())
    const second = mutex.acquire().then((release) => {
      const { fencingToken } = release
      release()
      return fencingToken
    })
    const there = once(worker, 'message')
    worker.postMessage('go on')
    await first
    const [strict] = await there
    assert.ok(strict < (await second), 'it was the holder before')
    await ended
  })

  it('works with using, waitForUnlock and strict fairness', async () => {
    const name = freshName()
    const mutex = open(name, { fairness: 'fifo' })
    const host = hosts.start()
    await host.does(`${openThere(name, { fairness: 'fifo' })} await my.mutex.lock()`)
    const free = mutex.waitForUnlock()
    await waiters(mutex, 1)
    await host.does('my.mutex.unlock()')
    await free
    const release = await mutex.acquire()
    release[Symbol.dispose]()
    assert.equal(mutex.isLocked(), false)
  })
})
