'use strict'
// Events, latches and barriers of scope host.
const assert = require('node:assert/strict')
const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const boxoffice = require('../..')
const { removeAll, useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')
const { itOnPosix } = require('../helpers/skip.js')

const soon = (promise) => within(30_000, promise)
const turn = () => new Promise(setImmediate)

describe('a gate of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()

  const open = (Kind, args, name, options) =>
    new boxoffice[Kind](...args, { scope: 'host', name, directory: hosts.directory, ...options })
  /** Code that opens the gate in another process, as `my.gate`. */
  const there = (Kind, args, name) =>
    `my.gate = new boxoffice.${Kind}(...${JSON.stringify(args)}, { scope: 'host', name: ${JSON.stringify(name)}, allowBlockingMainThread: true });`
  /** Two processes and one name. */
  async function both(Kind, args = []) {
    const name = freshName()
    const gate = open(Kind, args, name)
    const host = hosts.start()
    await host.does(there(Kind, args, name))
    return { gate, host, name }
  }
  const waits = 'my.wait = my.gate.wait({ timeout: 60_000 }); my.wait.catch(() => {});'

  describe('AutoResetEvent', () => {
    it('admits a waiter of another process for a signal', async () => {
      const { gate, host } = await both('AutoResetEvent')
      await host.does(waits)
      gate.signal()
      await soon(host.does('await my.wait'))
      assert.equal(gate.isSet(), false)
      const waiting = gate.wait()
      await host.does('my.gate.signal()')
      await soon(waiting)
    })

    it('keeps one signal where none waits', async () => {
      const { gate, host } = await both('AutoResetEvent')
      gate.signal()
      await host.does('my.gate.signal()')
      assert.equal(await host.does('return my.gate.isSet()'), true)
      assert.equal(gate.tryWait(), true)
      assert.equal(await host.does('return my.gate.tryWait()'), false)
    })

    it('admits as many waiters as there are signals, wherever they wait', async () => {
      const { gate, host, name } = await both('AutoResetEvent')
      const other = hosts.start()
      await other.does(there('AutoResetEvent', [], name))
      const count = 10
      const wait = `my.all = Array.from({ length: ${count} }, () => my.gate.wait());`
      await host.does(wait)
      await other.does(wait)
      for (let i = 0; i < 2 * count; i++) gate.signal()
      await soon(
        Promise.all([
          host.does('await Promise.all(my.all)'),
          other.does('await Promise.all(my.all)'),
        ]),
      )
      assert.equal(gate.isSet(), false)
    })

    it('takes turns between the processes that wait', async () => {
      const { gate, host } = await both('AutoResetEvent')
      await host.does(
        'my.count = 0; for (let i = 0; i < 4; i++) my.gate.wait().then(() => my.count++);',
      )
      let count = 0
      for (let i = 0; i < 4; i++) {
        gate.wait().then(() => {
          count++
        })
      }
      for (let i = 0; i < 4; i++) gate.signal()
      while (count < 2) await turn()
      await soon(host.does('while (my.count < 2) await turn()'))
      assert.equal(count, 2)
      for (let i = 0; i < 4; i++) gate.signal()
      await soon(host.does('while (my.count < 4) await turn()'))
    })

    it('blocks threads of other processes', async () => {
      const { gate, host } = await both('AutoResetEvent')
      assert.equal(
        await host.does('return codeOf(() => my.gate.waitSync({ timeout: 5 }))'),
        'ERR_LOCK_TIMEOUT',
      )
      const blocked = host.does('my.gate.waitSync()')
      await turn()
      gate.signal()
      await soon(blocked)
    })

    it('a waiter that times out or is aborted takes no signal', async () => {
      const { gate, host } = await both('AutoResetEvent')
      assert.equal(
        await host.does('return codeOf(() => my.gate.wait({ timeout: 5 }))'),
        'ERR_LOCK_TIMEOUT',
      )
      const aborter = new AbortController()
      const waiting = gate.wait({ signal: aborter.signal })
      aborter.abort(new Error('enough'))
      await assert.rejects(waiting, { message: 'enough' })
      gate.signal()
      assert.equal(await host.does('return my.gate.tryWait()'), true)
    })

    itOnPosix(
      'a signal for a process that is killed before it runs goes to another one',
      async () => {
        const { gate, host } = await both('AutoResetEvent')
        await host.does(waits)
        await host.stops()
        gate.signal() // the signal goes to the stopped process, the only one that waits
        assert.equal(gate.isSet(), false)
        const waiting = gate.wait()
        await host.dies()
        await soon(waiting)
      },
    )

    it('a signal for a process that is killed before its event loop runs goes to another one', async () => {
      const { gate, host } = await both('AutoResetEvent')
      // Blocks after the answer, before the event loop goes on.
      await host.does(`${waits}
        const block = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
        queueMicrotask(() => process.nextTick(block))`)
      gate.signal()
      assert.equal(gate.isSet(), false)
      const waiting = gate.wait()
      // Meanwhile the other process's wake-up thread admits the waiter.
      await new Promise((resolve) => setTimeout(resolve, 100))
      await host.dies()
      await soon(waiting)
      assert.equal(gate.isSet(), false)
    })

    it('a killed waiter is forgotten', async () => {
      const { gate, host } = await both('AutoResetEvent')
      await host.does(waits)
      await host.dies()
      const seen = gate.wait()
      gate.signal()
      // The signal may have gone to the dead process, whose clean-up passes it on.
      await soon(seen)
      assert.equal(gate.isSet(), false)
    })

    it("has no fairness: 'fifo'", () => {
      assert.throws(() => open('AutoResetEvent', [], freshName(), { fairness: 'fifo' }), {
        code: 'ERR_LOCK_UNSUPPORTED',
      })
    })
  })

  describe('ManualResetEvent', () => {
    it('admits all waiters of all processes, also when it is reset at once', async () => {
      const { gate, host } = await both('ManualResetEvent')
      await host.does(`${waits} my.wait = Promise.all([my.wait, my.gate.wait()])`)
      const waiting = gate.wait()
      gate.set()
      gate.reset()
      await soon(Promise.all([waiting, host.does('await my.wait')]))
      assert.equal(gate.isSet(), false)
      assert.equal(await host.does('return my.gate.tryWait()'), false)
    })

    it('stays set until it is reset', async () => {
      const { gate, host } = await both('ManualResetEvent')
      await host.does('my.gate.set()')
      await gate.wait()
      assert.equal(gate.isSet(), true)
      assert.equal(gate.tryWait(), true)
      gate.reset()
      assert.equal(await host.does('return my.gate.isSet()'), false)
    })

    it('is set from the start where its first constructor says so', async () => {
      const name = freshName()
      const gate = open('ManualResetEvent', [], name, { isSet: true })
      assert.equal(gate.isSet(), true)
      assert.throws(() => open('ManualResetEvent', [], name), {
        code: 'ERR_LOCK_MISMATCH',
        message: /exists with isSet true, not false: construct it alike/,
      })
      assert.equal(open('AutoResetEvent', [], name, { isSet: true }).tryWait(), true)
    })

    it('admits the waiters of others where the process that set it is killed', async () => {
      const { gate, host } = await both('ManualResetEvent')
      const waiting = gate.wait()
      await host.does('setImmediate(() => { my.gate.set(); process.kill(process.pid, "SIGKILL") })')
      await soon(waiting)
    })
  })

  describe('CountdownLatch', () => {
    it('opens for all processes when it has been counted down', async () => {
      const { gate, host } = await both('CountdownLatch', [3])
      await host.does(waits)
      const waiting = gate.wait()
      gate.countDown()
      assert.equal(await host.does('my.gate.countDown(); return my.gate.count'), 1)
      assert.throws(() => gate.countDown(2), { code: 'ERR_LOCK_RANGE' })
      gate.countDown()
      await soon(Promise.all([waiting, host.does('await my.wait')]))
      await gate.wait()
      assert.equal(await host.does('my.gate.waitSync(); return my.gate.tryWait()'), true)
    })

    it('counts to the largest count', () => {
      const most = 2 ** 31 - 1
      const latch = open('CountdownLatch', [most], freshName())
      assert.equal(latch.count, most)
      latch.countDown(most)
      assert.equal(latch.tryWait(), true)
    })

    it('a killed process has counted, or it has not', async () => {
      const { gate, host } = await both('CountdownLatch', [2])
      const waiting = gate.wait()
      await host.does(`my.gate.countDown(); ${waits}`)
      await host.dies()
      assert.equal(gate.count, 1)
      gate.countDown()
      await soon(waiting)
    })

    it('begins anew when no process that had it lives any more', async () => {
      const name = freshName()
      const first = hosts.start()
      const second = hosts.start()
      for (const host of [first, second]) await host.does(there('CountdownLatch', [1], name))
      await first.does('my.gate.countDown()')
      await first.dies()
      assert.equal(await second.does('return my.gate.tryWait()'), true)
      const third = hosts.start()
      await third.does(there('CountdownLatch', [1], name))
      assert.equal(await third.does('return my.gate.count'), 0, 'the second process has it')
      await Promise.all([second.dies(), third.dies()])
      const latch = open('CountdownLatch', [1], name)
      assert.equal(latch.count, 1)
    })
  })

  it('of one name and another kind is another one', () => {
    const name = freshName()
    const event = open('AutoResetEvent', [], name)
    event.signal()
    assert.equal(open('ManualResetEvent', [], name).isSet(), false)
    assert.equal(open('CountdownLatch', [1], name).count, 1)
    assert.equal(open('Barrier', [1], name).waiting, 0)
  })

  for (const [Kind, ...args] of [
    ['AutoResetEvent'],
    ['ManualResetEvent'],
    ['CountdownLatch', 1],
    ['Barrier', 2],
  ]) {
    it(`a ${Kind} keeps a process alive while it waits, and not otherwise`, async () => {
      const name = freshName()
      const gate = open(Kind, args, name)
      const host = hosts.start()
      await host.does(`${there(Kind, args, name)} ${waits}
        my.wait.then(() => {}); process.disconnect && setImmediate(() => process.disconnect())`)
      const ended = host.ends()
      const early = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 300))])
      assert.equal(early, undefined)
      const admits = { signal: 'signal', set: 'set', countDown: 'countDown' }
      const method = Object.keys(admits).find((one) => one in gate)
      if (method === undefined) await gate.wait()
      else gate[method]()
      assert.deepEqual(await soon(ended), [0, null])
    })

    it(`a ${Kind} refuses options that are not for it`, () => {
      const name = freshName()
      const refused = (options, error) =>
        assert.throws(() => open(Kind, args, name, options), error)
      refused({ name: undefined }, TypeError)
      refused({ capacity: 5 }, TypeError)
      refused({ buffer: new SharedArrayBuffer(8) }, TypeError)
      refused({ scope: 'machine' }, TypeError)
      refused({ maxHold: 1000 }, { code: 'ERR_LOCK_UNSUPPORTED' })
      refused({ diagnostics: 'counters' }, Error)
      const gate = open(Kind, args, name)
      assert.throws(() => gate.waitSync(), TypeError)
      assert.throws(() => gate.wait({ timeout: -1 }), RangeError)
      assert.throws(() => gate.buffer, TypeError)
    })

    itOnPosix(`waiters for a ${Kind} are told when its files are removed`, async () => {
      const directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
      const gate = open(Kind, args, freshName(), { directory })
      const waiting = gate.wait()
      removeAll(directory)
      await assert.rejects(soon(waiting), { code: 'ERR_LOCK_SEGMENT' })
      await assert.rejects((async () => gate.wait())(), { code: 'ERR_LOCK_SEGMENT' })
    })
  }

  it('a signal for a worker that is terminated before it runs goes to another waiter', async () => {
    const { gate, host, name } = await both('AutoResetEvent')
    const code = `
      const boxoffice = require(${JSON.stringify(require.resolve('../..'))})
      new boxoffice.AutoResetEvent({ scope: 'host', name: ${JSON.stringify(name)} }).wait()
      setImmediate(() => {
        require('node:worker_threads').parentPort.postMessage('never runs again')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      })`
    await host.does(`
      const { Worker } = require('node:worker_threads')
      my.worker = new Worker(${JSON.stringify(code)}, { eval: true })
      await require('node:events').once(my.worker, 'message')`)
    gate.signal()
    assert.equal(gate.isSet(), false)
    const waiting = gate.wait()
    await host.does('await my.worker.terminate()')
    await soon(waiting)
    assert.equal(gate.isSet(), false)
  })
})
