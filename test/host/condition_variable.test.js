'use strict'
// Condition variables of scope host: waits, deaths, and a bounded buffer between processes.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const fc = require('fast-check')
const boxoffice = require('../..')
const { playCondition, steps } = require('../helpers/condition_model.js')
const { inChild } = require('../helpers/children.js')
const { FakeClock } = require('../helpers/fake_clock.js')
const { removeAll, useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')
const { outcome } = require('../helpers/keyed.js')
const { itOnPosix } = require('../helpers/skip.js')

const { ConditionVariable, Mutex } = boxoffice
const soon = (promise) => within(60_000, promise)
const turn = () => new Promise(setImmediate)

describe('a condition variable of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()

  const open = (Kind, name, options) =>
    new Kind({ scope: 'host', name, directory: hosts.directory, ...options })
  /** Code that opens both in another process, and defines `wait()`. */
  const there = (name) => `
    my.mutex = new boxoffice.Mutex({ scope: 'host', name: ${JSON.stringify(name)} })
    my.condition = new boxoffice.ConditionVariable({ scope: 'host', name: ${JSON.stringify(name)} })
    my.back = 0
    my.wait = async (options) => {
      const release = await my.mutex.acquire()
      my.waiting = my.condition.wait(my.mutex, options).finally(() => { my.back++; release() })
      my.waiting.catch(() => {})
    };`
  async function start(name) {
    const host = hosts.start()
    await host.does(there(name))
    return host
  }
  function here() {
    const name = freshName()
    return { name, mutex: open(Mutex, name), condition: open(ConditionVariable, name) }
  }
  /** Two processes with a mutex and a condition. */
  async function both() {
    const mine = here()
    return { ...mine, host: await start(mine.name) }
  }
  /** A wait of this process. Its mutex is free again when the result is there. */
  async function waits({ mutex, condition }, options) {
    const release = await mutex.acquire()
    return outcome(condition.wait(mutex, options).finally(release))
  }
  async function notifyHere(all) {
    const wait = await waits(all)
    all.condition.notifyOne()
    await soon(until(() => wait.state === 'fulfilled'))
  }
  const until = async (isSo) => {
    while (!(await isSo())) await turn()
  }
  const backs = (host) => host.does('return my.back')

  it('wakes a waiter of another process, which then holds the mutex', async () => {
    const { mutex, condition, host } = await both()
    await host.does('await my.wait()')
    const release = await soon(mutex.acquire())
    condition.notifyOne()
    await host.does('await turn()')
    assert.equal(await backs(host), 0, 'the mutex is not free yet')
    release()
    await soon(host.does('await my.waiting'))
    await soon(mutex.acquire()).then((last) => last())
  })

  it('wakes a waiter here when another process notifies', async () => {
    const all = await both()
    const wait = await waits(all)
    await all.host.does('my.condition.notifyOne()')
    await soon(until(() => wait.state === 'fulfilled'))
    assert.equal(all.mutex.isLocked(), false)
  })

  it('notifies waiters of this process, which need no other process', async () => {
    const all = here()
    const waiting = [await waits(all), await waits(all), await waits(all)]
    all.condition.notifyOne()
    await soon(until(() => waiting[0].state === 'fulfilled'))
    assert.equal(waiting[1].state, 'pending')
    all.condition.notifyAll()
    await soon(until(() => waiting.every(({ state }) => state === 'fulfilled')))
  })

  it('wakes one waiter for each notifyOne, processes in turn, and the rest by notifyAll', async () => {
    const { condition, host, name } = await both()
    const other = await start(name)
    for (const one of [host, other]) {
      for (let i = 0; i < 4; i++) await one.does('await my.wait()')
    }
    for (let i = 0; i < 4; i++) condition.notifyOne()
    await soon(until(async () => (await backs(host)) + (await backs(other)) === 4))
    assert.equal(await backs(host), 2)
    condition.notifyAll()
    await soon(until(async () => (await backs(host)) + (await backs(other)) === 8))
  })

  it('a notification without a waiter has no effect', async () => {
    const { mutex, condition, host } = await both()
    condition.notifyOne()
    await host.does('my.condition.notifyAll()')
    await mutex.lock()
    await assert.rejects(condition.wait(mutex, { timeout: 20 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.ok(mutex.isLocked())
    mutex.unlock()
  })

  for (const how of ['timeout', 'abort']) {
    it(`a wait that ends by ${how} rejects when it holds the mutex again, and takes no notification`, async () => {
      const all = await both()
      const { mutex, condition, host } = all
      const aborter = new AbortController()
      const limits = how === 'abort' ? { signal: aborter.signal } : { timeout: 20 }
      const release = await mutex.acquire()
      // The wait must not time out before the other process has the mutex.
      const clock = new FakeClock()
      const wait = outcome(condition.wait(mutex, limits))
      clock.restore()
      await host.does('my.release = await my.mutex.acquire()')
      aborter.abort('gone')
      clock.advance(20)
      await host.does('await turn()')
      assert.equal(wait.state, 'pending')
      mutex.cancel()
      await host.does('my.release()')
      await soon(until(() => wait.state === 'rejected'))
      assert.equal(wait.reason.code ?? wait.reason, how === 'abort' ? 'gone' : 'ERR_LOCK_TIMEOUT')
      assert.ok(mutex.isLocked())
      release()
      await host.does('await my.wait()')
      condition.notifyOne()
      await soon(host.does('await my.waiting'))
    })
  }

  it('a notification that races with an abort wakes exactly one waiter', async () => {
    const all = await both()
    const { condition, host, mutex } = all
    const ends = { first: 0, second: 0 }
    for (let i = 0; i < 200; i++) {
      const aborter = new AbortController()
      const first = await waits(all, { signal: aborter.signal })
      const second = await waits(all)
      const notified = host.does('my.condition.notifyOne()')
      for (let turns = i % 8; turns > 0; turns--) await turn()
      aborter.abort('gone')
      await notified
      await soon(until(() => first.state !== 'pending'))
      const isFirst = first.state === 'fulfilled'
      ends[isFirst ? 'first' : 'second']++
      if (!isFirst) await soon(until(() => second.state === 'fulfilled'))
      else assert.equal(second.state, 'pending')
      condition.notifyAll()
      await soon(until(() => second.state === 'fulfilled'))
    }
    assert.equal(mutex.isLocked(), false)
    assert.equal(ends.first + ends.second, 200)
  })

  it('draws a larger fencing token after a wait', async () => {
    const { mutex, condition, host } = await both()
    const release = await mutex.acquire()
    const before = release.fencingToken
    const waiting = condition.wait(mutex)
    const between = await host.does(`
      const release = await my.mutex.acquire()
      my.condition.notifyOne()
      const token = release.fencingToken
      release()
      return token`)
    await soon(waiting)
    assert.ok(before < between && between < release.fencingToken)
    assert.equal(release.fencingToken, release.fencingToken)
    const last = release.fencingToken
    release()
    assert.equal(release.fencingToken, last)
  })

  it('a releaser is without effect while its holder waits', async () => {
    const { mutex, condition, host } = await both()
    const release = await mutex.acquire()
    const waiting = condition.wait(mutex)
    await host.does('my.release = await my.mutex.acquire()')
    release()
    assert.throws(() => condition.wait(mutex), { code: 'ERR_LOCK_NOT_HELD' })
    await host.does('my.condition.notifyOne(); my.release()')
    await soon(waiting)
    assert.ok(mutex.isLocked())
    release()
    assert.equal(mutex.isLocked(), false)
  })

  it('closing the mutex waits for its condition waiters', async () => {
    const all = await both()
    const wait = await waits(all)
    const closing = outcome(all.mutex.close())
    await turn()
    assert.equal(closing.state, 'pending')
    await all.host.does('my.condition.notifyOne()')
    await soon(until(() => closing.state === 'fulfilled'))
    assert.equal(wait.state, 'fulfilled')
  })

  it('keeps a process alive while it waits, and not otherwise', async () => {
    const { condition, host } = await both()
    await host.does('await my.wait(); setImmediate(() => process.disconnect())')
    const ended = host.ends()
    const early = new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(await Promise.race([ended, early]), undefined)
    condition.notifyOne()
    assert.deepEqual(await soon(ended), [0, null])
  })

  itOnPosix('rejects waiters whose files are removed, without the mutex', async () => {
    const directory = fs.mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
    const name = freshName()
    const mutex = open(Mutex, name, { directory })
    const condition = open(ConditionVariable, name, { directory })
    const release = await mutex.acquire()
    const waiting = condition.wait(mutex)
    const closing = mutex.onIdle()
    removeAll(directory)
    await assert.rejects(soon(waiting), { code: 'ERR_LOCK_SEGMENT' })
    release()
    await soon(closing)
    // The process may hear of the mutex's own file later.
    await soon(
      until(async () => {
        try {
          ;(await mutex.acquire())()
        } catch (error) {
          return error.code === 'ERR_LOCK_SEGMENT'
        }
      }),
    )
  })

  it('does not lose a waiter whose signal is aborted near the end of the stack', async () => {
    // In a process of its own: a signal throws the errors of its listeners in another turn.
    const code = `
      process.on('uncaughtException', () => {})
      process.exitCode = 1 // for a waiter that is lost: nothing keeps the process alive
      Error.stackTraceLimit = 0
      const { ConditionVariable } = require(entry)
      const { atEachDepth } = require(${JSON.stringify(require.resolve('../helpers/stack_end.js'))})
      const options = ${JSON.stringify({ scope: 'host', name: freshName(), directory: hosts.directory })}
      const mutex = new Mutex(options)
      const condition = new ConditionVariable(options)
      const prepare = async () => {
        await mutex.lock()
        const aborter = new AbortController()
        const it = { aborter, isOver: false }
        const over = () => { it.isOver = true }
        condition.wait(mutex, { signal: aborter.signal }).then(over, over)
        return it
      }
      const check = async (it) => {
        for (let i = 0; i < 4; i++) await turn()
        if (!it.isOver) condition.notifyAll() // for a waiter that stayed in the queue
        for (let i = 0; i < 4; i++) await turn()
        if (!it.isOver || !mutex.isLocked()) process.exit(2)
        mutex.unlock()
      }
      await atEachDepth(prepare, ({ aborter }) => aborter.abort('gone'), check)
      process.exit(0)`
    await inChild(code)
  })

  it('does what a model does, in one process', async () => {
    const play = (script) => {
      const name = freshName()
      return playCondition((Kind) => open(Kind, name), script)
    }
    await fc.assert(fc.asyncProperty(steps, play), { numRuns: 100 })
  })

  describe('when a process dies', () => {
    itOnPosix(
      'a notification for a process that is killed before it runs goes to another one',
      async () => {
        const all = await both()
        await all.host.does('await my.wait()')
        await all.host.stops()
        all.condition.notifyOne()
        const wait = await waits(all)
        await all.host.dies()
        await soon(until(() => wait.state === 'fulfilled'))
      },
    )

    it('a notified waiter that is killed before it has the mutex passes its notification on', async () => {
      const all = await both()
      const { condition, host, mutex } = all
      await notifyHere(all) // so that it is the other process's turn
      await host.does('await my.wait()')
      const wait = await waits(all)
      const release = await mutex.acquire()
      condition.notifyOne()
      await soon(until(() => mutex.snapshot().waiterPids.includes(host.pid)))
      await host.dies()
      release()
      await soon(until(() => wait.state === 'fulfilled'))
      assert.equal(mutex.isLocked(), false)
    })

    it('a notified waiter that is killed while it holds the mutex passes its notification on', async () => {
      const all = await both()
      const { condition, host, mutex } = all
      await notifyHere(all) // so that it is the other process's turn
      await host.does(`
        await my.mutex.lock()
        my.waiting = my.condition.wait(my.mutex)`)
      const wait = await waits(all)
      condition.notifyOne()
      await soon(host.does('await my.waiting'))
      assert.equal(wait.state, 'pending')
      await host.dies()
      await soon(until(() => wait.state === 'fulfilled'))
      const told = async ({ abandoned }) => abandoned
      assert.deepEqual(await Promise.all([mutex.runExclusive(told), mutex.runExclusive(told)]), [
        true,
        false,
      ])
    })

    it('a notified waiter that has released to another waiter of its process passes nothing on', async () => {
      const all = await both()
      const { condition, host, mutex } = all
      await notifyHere(all) // so that it is the other process's turn
      await host.does(`
        my.release = await my.mutex.acquire()
        my.waiting = my.condition.wait(my.mutex)`)
      const wait = await waits(all)
      condition.notifyOne()
      await soon(host.does('await my.waiting; my.next = my.mutex.acquire(); my.release()'))
      await soon(host.does('await my.next'))
      await host.dies()
      assert.equal((await soon(mutex.acquire())).abandoned, true)
      mutex.release()
      for (let i = 0; i < 50; i++) await turn()
      assert.equal(wait.state, 'pending')
      condition.notifyOne()
      await soon(until(() => wait.state === 'fulfilled'))
    })

    it('a death that a returning waiter cannot be told of is told to the next holder', async () => {
      const all = await both()
      const { condition, host, mutex } = all
      const wait = await waits(all)
      await host.does('await my.mutex.lock()')
      condition.notifyOne()
      const told = async ({ abandoned }) => abandoned
      const next = [mutex.runExclusive(told), mutex.runExclusive(told)]
      await host.dies()
      await soon(until(() => wait.state === 'fulfilled'))
      assert.deepEqual(await soon(Promise.all(next)), [true, false])
    })

    it('a killed waiter is forgotten', async () => {
      const all = await both()
      await all.host.does('await my.wait()')
      await all.host.dies()
      const wait = await waits(all)
      all.condition.notifyOne()
      await soon(until(() => wait.state === 'fulfilled'))
      assert.equal(all.mutex.isLocked(), false)
    })

    it('a notifier that is killed right after has notified', async () => {
      const all = await both()
      const wait = await waits(all)
      await all.host.does(`
        const release = await my.mutex.acquire()
        setImmediate(() => { my.condition.notifyOne(); process.kill(process.pid, 'SIGKILL') })`)
      await soon(until(() => wait.state === 'fulfilled'))
    })

    itOnPosix(
      'a stopped process keeps its notification, and its waiter returns later',
      async () => {
        const { condition, host, mutex } = await both()
        await host.does('await my.wait()')
        await host.stops()
        condition.notifyOne()
        condition.notifyAll()
        await soon(mutex.acquire()).then((release) => release())
        host.child.kill('SIGCONT')
        await soon(host.does('await my.waiting'))
      },
    )

    for (const isNotified of [false, true]) {
      const when = isNotified ? 'while it waits for the mutex' : 'before it runs'
      it(`the notification of a worker that is terminated ${when} goes to another waiter`, async () => {
        const all = await both()
        const { condition, host, mutex, name } = all
        await notifyHere(all) // so that it is the other process's turn
        const tells = "parentPort.postMessage('waits')"
        const blocks = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'
        const code = `
          const { parentPort } = require('node:worker_threads')
          const boxoffice = require(${JSON.stringify(require.resolve('../..'))})
          const options = { scope: 'host', name: ${JSON.stringify(name)} }
          const mutex = new boxoffice.Mutex(options)
          const condition = new boxoffice.ConditionVariable(options)
          mutex.runExclusive(() => {
            const waiting = condition.wait(mutex)
            ${isNotified ? tells : `setImmediate(() => { ${tells}; ${blocks} })`}
            return waiting
          })`
        await host.does(`
          const { Worker } = require('node:worker_threads')
          my.worker = new Worker(${JSON.stringify(code)}, { eval: true })
          await require('node:events').once(my.worker, 'message')
          await my.mutex.runExclusive(() => {})`)
        const wait = await waits(all)
        const release = await mutex.acquire()
        condition.notifyOne()
        if (isNotified) await soon(until(() => mutex.snapshot().waiterPids.includes(host.pid)))
        await host.does('await my.worker.terminate()')
        release()
        await soon(until(() => wait.state === 'fulfilled'))
        assert.equal(mutex.isLocked(), false)
      })
    }
  })

  describe('a bounded buffer', () => {
    const room = 3
    let file
    beforeEach(() => {
      file = path.join(fs.mkdtempSync(path.join(tmpdir(), 'boxoffice-test-')), 'buffer.json')
      fs.writeFileSync(file, JSON.stringify({ items: [], taken: [], made: 0 }))
    })
    afterEach(() => fs.rmSync(path.dirname(file), { recursive: true }))

    /**
     * Code that defines make() and take(), each for one item. They notify first: a process that is
     * killed in between has woken a waiter in vain.
     */
    const buffer = (name) => `
      const fs = require('node:fs')
      const file = ${JSON.stringify(file)}
      const options = { scope: 'host', name: ${JSON.stringify(name)} }
      const mutex = new boxoffice.Mutex(options)
      const notEmpty = new boxoffice.ConditionVariable({ ...options, name: options.name + ' not empty' })
      const notFull = new boxoffice.ConditionVariable({ ...options, name: options.name + ' not full' })
      const read = () => JSON.parse(fs.readFileSync(file))
      const write = (state) => {
        fs.writeFileSync(file + process.pid, JSON.stringify(state))
        fs.renameSync(file + process.pid, file)
      }
      const patience = () => (Math.random() < 0.5 ? { timeout: 5 * Math.random() } : {})
      const waitFor = async (condition, isReady) => {
        while (!isReady(read())) {
          await condition.wait(mutex, patience()).catch((error) => {
            if (error.code !== 'ERR_LOCK_TIMEOUT') throw error
          })
        }
      }
      my.make = () => mutex.runExclusive(async () => {
        await waitFor(notFull, ({ items }) => items.length < ${room})
        notEmpty.notifyOne()
        const state = read()
        state.items.push(++state.made)
        write(state)
      })
      my.take = () => mutex.runExclusive(async () => {
        await waitFor(notEmpty, ({ items }) => items.length > 0)
        notFull.notifyOne()
        const state = read()
        state.taken.push(state.items.shift())
        write(state)
      })
      my.repeat = (action, count) => Array.from({ length: count }, () => action());`
    const state = () => JSON.parse(fs.readFileSync(file))
    async function startAll(count, name) {
      const all = Array.from({ length: count }, () => hosts.start())
      for (const host of all) await host.does(buffer(name))
      return all
    }

    it('between processes loses no item', async () => {
      const all = await startAll(3, freshName())
      const count = 60
      await soon(
        Promise.all(
          all.map((host) =>
            host.does(
              `await Promise.all([...my.repeat(my.make, ${count}), ...my.repeat(my.take, ${count})])`,
            ),
          ),
        ),
      )
      const { items, taken, made } = state()
      assert.deepEqual(items, [])
      assert.equal(made, 3 * count)
      assert.deepEqual(
        taken,
        Array.from({ length: made }, (_, i) => i + 1),
      )
    })

    itOnPosix('loses no item when a process that takes is killed, whenever', async () => {
      const name = freshName()
      const [maker, taker] = await startAll(2, name)
      await taker.does('(async () => { for (;;) await my.take() })()')
      const rounds = 8
      const count = 40
      for (let i = 1; i <= rounds; i++) {
        const [victim] = await startAll(1, name)
        await victim.does(`my.repeat(my.take, ${count}).forEach((each) => each.catch(() => {}))`)
        const { length } = state().taken
        const making = maker.does(`await Promise.all(my.repeat(my.make, ${count}))`)
        await soon(until(() => state().taken.length > length + i))
        await victim.dies()
        await soon(making)
        await soon(until(() => state().taken.length === i * count))
      }
      assert.deepEqual(
        state().taken,
        Array.from({ length: rounds * count }, (_, i) => i + 1),
      )
    })
  })

  describe('refuses', () => {
    it('mutexes of another scope, and threads that would block', async () => {
      const { mutex, condition, name } = here()
      const near = new Mutex()
      const shared = new Mutex({ name })
      for (const one of [near, shared]) {
        await one.lock()
        assert.throws(() => condition.wait(one), { name: 'TypeError', message: /scope 'host'/ })
        one.unlock()
      }
      assert.throws(() => condition.wait(mutex), { code: 'ERR_LOCK_NOT_HELD' })
      await mutex.lock()
      const blocking = open(ConditionVariable, name, { allowBlockingMainThread: true })
      assert.throws(() => blocking.waitSync(mutex), { code: 'ERR_LOCK_UNSUPPORTED' })
      assert.throws(() => condition.waitSync(mutex), TypeError)
      await assert.rejects(condition.wait(mutex, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
      await assert.rejects(condition.wait(mutex, { signal: AbortSignal.abort('gone') }))
      for (const bad of [null, 'a', { timeout: '1' }, { timeout: -1 }, { signal: {} }]) {
        assert.throws(() => condition.wait(mutex, bad))
      }
      assert.ok(mutex.isLocked())
      mutex.unlock()
      assert.equal(mutex.isLocked(), false)
    })

    it('mutexes with maxHold or minHold', async () => {
      const { condition } = here()
      const mutex = open(Mutex, freshName(), { maxHold: 10_000 })
      await mutex.lock()
      assert.throws(() => condition.wait(mutex), {
        code: 'ERR_LOCK_UNSUPPORTED',
        message: /maxHold/,
      })
      mutex.release()
    })

    it('options that are not for it', () => {
      const refused = (options, error) =>
        assert.throws(() => open(ConditionVariable, freshName(), options), error)
      refused({ name: undefined }, TypeError)
      refused({ capacity: 5 }, TypeError)
      refused({ buffer: new SharedArrayBuffer(8) }, TypeError)
      refused({ maxHold: 1000 }, { code: 'ERR_LOCK_UNSUPPORTED' })
      refused({ fairness: 'fifo' }, { code: 'ERR_LOCK_UNSUPPORTED' })
      refused({ diagnostics: 'counters' }, Error)
      assert.throws(() => open(ConditionVariable, freshName()).buffer, TypeError)
    })
  })
})
