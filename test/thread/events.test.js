'use strict'
const assert = require('node:assert/strict')
const { AutoResetEvent, ManualResetEvent } = require('../..')
const { freshName, sleep, useAgents, within } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')

describe('AutoResetEvent', () => {
  it('admits one waiter for each signal, first come first served; signals while set count as one', async () => {
    const event = new AutoResetEvent()
    event.signal()
    event.signal()
    assert.ok(event.isSet())
    assert.ok(event.tryWait())
    assert.equal(event.tryWait(), false)
    const waits = [1, 2, 3].map(() => outcome(event.wait()))
    event.signal()
    await settled()
    assert.deepEqual(
      waits.map(({ state }) => state),
      ['fulfilled', 'pending', 'pending'],
    )
    event.signal()
    event.signal()
    event.signal()
    await settled()
    assert.equal(waits[2].state, 'fulfilled')
    assert.ok(event.isSet())
  })
})

describe('ManualResetEvent', () => {
  it('admits every waiter while it is set', async () => {
    const event = new ManualResetEvent()
    const waits = [1, 2, 3].map(() => outcome(event.wait()))
    event.set()
    event.reset()
    await settled()
    assert.ok(waits.every(({ state }) => state === 'fulfilled'))
    assert.deepEqual([event.isSet(), event.tryWait()], [false, false])
    event.set()
    assert.ok(event.tryWait() && event.tryWait())
    await event.wait({ timeout: 0 })
  })
})

for (const Event of [AutoResetEvent, ManualResetEvent]) {
  const set = (event) => (event instanceof AutoResetEvent ? event.signal() : event.set())
  const setCode = Event === AutoResetEvent ? 'event.signal()' : 'event.set()'

  describe(`${Event.name}: waiting`, () => {
    const agent = useAgents()
    const head = `const event = (my.event ??= new ${Event.name}(workerData));`

    it('a caller whose signal has aborted does not pass, and leaves the event set', async () => {
      const signal = AbortSignal.abort('gone')
      for (const options of [{}, { name: freshName() }]) {
        const event = new Event({ ...options, isSet: true })
        await assert.rejects(event.wait({ signal }), (reason) => reason === 'gone')
        assert.ok(event.isSet())
      }
    })

    it('takes limits, and keeps nothing of a waiter that gives up', async () => {
      const event = new Event()
      const controller = new AbortController()
      const waits = [{ timeout: 2 }, { signal: controller.signal }, { timeout: 0 }, {}]
      const seen = waits.map((limits) => outcome(event.wait(limits)))
      controller.abort('gone')
      while (seen[0].state === 'pending') await sleep(1)
      assert.equal(seen[0].reason.code, 'ERR_LOCK_TIMEOUT')
      assert.equal(seen[1].reason, 'gone')
      assert.equal(seen[2].reason.code, 'ERR_LOCK_TIMEOUT')
      set(event)
      await settled()
      assert.equal(seen[3].state, 'fulfilled')
      for (const bad of [null, 'a', { timeout: -1 }, { signal: 1 }, { priority: NaN }]) {
        assert.throws(() => event.wait(bad))
      }
      assert.throws(() => new Event(null), TypeError)
      assert.throws(() => new Event({ isSet: 1 }), TypeError)
      assert.throws(() => new Event({ buffer: new SharedArrayBuffer(4) }), RangeError)
    })

    it('an object made in its buffer while promises wait is the same event', async () => {
      const event = new Event({ shared: true })
      const waits = [outcome(event.wait()), outcome(event.wait({ timeout: 1e6 }))]
      const other = new Event({ buffer: event.buffer })
      set(other)
      if (Event === AutoResetEvent) set(event)
      await settled()
      assert.ok(waits.every(({ state }) => state === 'fulfilled'))
      const before = new Event({ isSet: true, shared: true })
      assert.ok(before.tryWait())
      assert.equal(new Event({ buffer: before.buffer, isSet: true }).isSet(), before.isSet())
    })

    it('a blocked worker and a promise of this thread wake each other', async () => {
      for (const options of [{ name: freshName() }, { buffer: new SharedArrayBuffer(8) }]) {
        const event = new Event(options)
        const worker = agent(options)
        const { done } = await worker.begins(`${head} say(1); event.waitSync(); return 'woken'`)
        await sleep(20)
        set(event)
        assert.equal(await done, 'woken')
        event.reset?.()
        const wait = event.wait()
        await worker.does(`${head} ${setCode}`)
        await wait
        const late = `${head} event.reset?.(); return codeOf(() => event.waitSync({ timeout: 5 }))`
        assert.equal(await worker.does(late), 'ERR_LOCK_TIMEOUT')
      }
    })

    it('a signal for a waiter that died before it saw the signal goes to the next waiter', async () => {
      for (let i = 0; i < 5; i++) {
        const options = { name: freshName() }
        const event = new Event(options)
        const worker = agent(options)
        await worker.begins(`${head} event.wait(); say(1); for (;;);`)
        const wait = event.wait()
        set(event)
        await worker.dies()
        await within(8000, wait)
      }
    })

    it('a wait for a shared event keeps the process alive, for a local one it does not', async () => {
      const code = (options) => `
        const { ${Event.name}: Event } = require(entry)
        process.on('exit', () => show('exit'))
        new Event(${options}).wait({ timeout: 50 }).catch(() => {
          show('late')
          worker.postMessage('go')
        })
        globalThis.event = new Event(${options})
        event.wait().then(() => show('set'))
        const worker = new Worker(\`
          const { ${Event.name}: Event } = require(\${JSON.stringify(entry)})
          const event = new Event({ name: 'e' })
          const { parentPort } = require('node:worker_threads')
          parentPort.postMessage('here')
          parentPort.once('message', () => setTimeout(() => ${setCode}, 150))\`, { eval: true })
        worker.once('message', () => worker.unref())`
      assert.deepEqual(await inChild(code("{ name: 'e' }")), ['late', 'set', 'exit'])
    })
  })
}
