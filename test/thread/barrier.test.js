'use strict'
const assert = require('node:assert/strict')
const { Barrier, CountdownLatch, Semaphore } = require('../..')
const { freshName, sleep, useAgents, within } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')

const allowed = { allowBlockingMainThread: true }
const most = 2 ** 30 - 1
const shared = () => [{ name: freshName() }, { buffer: new SharedArrayBuffer(8) }]
const states = (seen) => seen.map(({ state }) => state)
const reasons = (seen) => seen.map(({ reason }) => reason?.code ?? reason)
const isBroken = { code: 'ERR_LOCK_BROKEN', message: /^the barrier.* is broken/ }

/** How many parties wait, and the outcome of each wait. */
const arrive = (barrier, count) => Array.from({ length: count }, () => outcome(barrier.wait()))

describe('Barrier', () => {
  it('lets every party pass when the last arrives, each with a number, and starts anew', async () => {
    const barrier = new Barrier(3)
    for (let round = 0; round < 3; round++) {
      const seen = arrive(barrier, 2)
      await settled()
      assert.deepEqual(states(seen), ['pending', 'pending'])
      assert.equal(barrier.waiting, 2)
      seen.push(outcome(barrier.wait()))
      await settled()
      assert.deepEqual(
        seen.map(({ value }) => value),
        [2, 1, 0],
      )
      assert.deepEqual([barrier.waiting, barrier.parties, barrier.isBroken()], [0, 3, false])
    }
  })

  it('of one party lets every caller pass', async () => {
    const barrier = new Barrier(1, allowed)
    assert.deepEqual([await barrier.wait(), await barrier.wait({ timeout: 0 })], [0, 0])
    assert.equal(barrier.waitSync(), 0)
    assert.equal(barrier.waiting, 0)
  })

  it('does not mix rounds: a party that arrives early waits for the next one', async () => {
    const barrier = new Barrier(2)
    const order = []
    const party = async (name, rounds) => {
      for (let i = 0; i < rounds; i++) {
        await barrier.wait()
        order.push(`${name}${i}`)
      }
    }
    const all = [party('a', 3), party('b', 2)]
    await settled()
    assert.deepEqual(order, ['a0', 'b0', 'a1', 'b1'])
    assert.equal(barrier.waiting, 1)
    all.push(party('c', 1))
    await Promise.all(all)
    assert.equal(barrier.waiting, 0)
  })

  it('resolves parties of one thread in order of arrival', async () => {
    const barrier = new Barrier(1000)
    const order = []
    const waits = Array.from({ length: 1000 }, (_, i) =>
      barrier.wait().then((missing) => order.push([i, missing])),
    )
    await Promise.all(waits)
    assert.deepEqual(
      order,
      Array.from({ length: 1000 }, (_, i) => [i, 999 - i]),
    )
  })

  it('has up to 2^30 - 1 parties', async () => {
    for (const options of [{}, ...shared()]) {
      const barrier = new Barrier(most, options)
      const seen = arrive(barrier, 3)
      assert.deepEqual([barrier.waiting, barrier.parties], [3, most])
      barrier.break()
      await settled()
      assert.deepEqual(reasons(seen), Array(3).fill('ERR_LOCK_BROKEN'))
      barrier.reset()
      assert.equal(barrier.waiting, 0)
    }
  })

  it('refuses invalid numbers of parties', () => {
    for (const bad of [undefined, null, '1', 1n, {}])
      assert.throws(() => new Barrier(bad), TypeError)
    for (const bad of [0, -1, 1.5, NaN, Infinity, most + 1]) {
      assert.throws(() => new Barrier(bad), RangeError)
    }
    for (const bad of [null, 1, 'a', { name: '' }, { buffer: new ArrayBuffer(8) }]) {
      assert.throws(() => new Barrier(1, bad))
    }
    assert.throws(() => new Barrier(1, { buffer: new SharedArrayBuffer(4) }), RangeError)
  })

  it('does not count a party whose call is refused, and is not broken by it', async () => {
    const barrier = new Barrier(2, allowed)
    const seen = arrive(barrier, 1)
    for (const bad of [null, 'a', { timeout: -1 }, { timeout: '1' }, { signal: 1 }]) {
      assert.throws(() => barrier.wait(bad))
      assert.throws(() => barrier.waitSync(bad))
    }
    assert.throws(() => barrier.waitSync({ signal: new AbortController().signal }), TypeError)
    await settled()
    assert.deepEqual([states(seen), barrier.waiting], [['pending'], 1])
    assert.equal(await barrier.wait(), 0)
  })

  it('has one kind and number, by name and by memory', () => {
    for (const at of shared()) {
      const first = new Barrier(2, at)
      outcome(first.wait({ timeout: 5 }))
      assert.equal(new Barrier(2, at).waiting, 1)
      const mismatch = { code: 'ERR_LOCK_MISMATCH', message: /the barrier/ }
      assert.throws(() => new Barrier(3, at), mismatch)
      if (at.buffer === undefined) continue
      const inUse = { code: 'ERR_LOCK_MISMATCH', message: /by a barrier/ }
      assert.throws(() => new Semaphore(2, at), inUse)
      assert.throws(() => new CountdownLatch(2, at), inUse)
    }
  })

  it('an object made in its buffer while promises wait is the same barrier', async () => {
    const barrier = new Barrier(4, { shared: true })
    const seen = [outcome(barrier.wait()), outcome(barrier.wait({ timeout: 1e6 }))]
    const other = new Barrier(4, { buffer: barrier.buffer, byteOffset: barrier.byteOffset })
    assert.deepEqual([other.waiting, barrier.isBroken()], [2, false])
    seen.push(outcome(other.wait()))
    await settled()
    assert.deepEqual(states(seen), ['pending', 'pending', 'pending'])
    assert.equal(await barrier.wait(), 0)
    await settled()
    assert.deepEqual(
      seen.map(({ value }) => value),
      [3, 2, 1],
    )
    const broken = new Barrier(2, { shared: true })
    broken.break()
    assert.ok(new Barrier(2, { buffer: broken.buffer }).isBroken())
    assert.throws(() => new Barrier(1, { name: freshName() }).buffer, TypeError)
  })
})

describe('Barrier: breaking', () => {
  for (const kind of ['alone', 'with a name', 'in a buffer']) {
    const make = (parties) => {
      if (kind === 'alone') return new Barrier(parties)
      return new Barrier(parties, shared()[kind === 'with a name' ? 0 : 1])
    }

    it(`a party that may not wait rejects at once: ${kind}`, async () => {
      let isRejected = false
      make(3)
        .wait({ timeout: 0 })
        .catch(() => {
          isRejected = true
        })
      await null
      assert.equal(isRejected, true)
    })

    it(`a party that gives up breaks it for all: ${kind}`, async () => {
      const barrier = make(5)
      for (const how of ['timeout', 'abort', 'no time', 'aborted before']) {
        const controller = new AbortController()
        if (how === 'aborted before') controller.abort('gone')
        const limits = {
          timeout: { timeout: 2 },
          abort: { signal: controller.signal },
          'no time': { timeout: 0 },
          'aborted before': { signal: controller.signal },
        }[how]
        const others = arrive(barrier, 3)
        const one = outcome(barrier.wait(limits))
        controller.abort('gone')
        while (one.state === 'pending') await sleep(1)
        await settled()
        const own = limits.signal === undefined ? 'ERR_LOCK_TIMEOUT' : 'gone'
        assert.deepEqual(reasons([one, ...others]), [own, ...Array(3).fill('ERR_LOCK_BROKEN')])
        assert.deepEqual([barrier.isBroken(), barrier.waiting], [true, 0])
        await assert.rejects(barrier.wait(), isBroken)
        await assert.rejects(barrier.wait({ timeout: 0 }), isBroken)
        await assert.rejects(
          barrier.wait({ signal: AbortSignal.abort('mine') }),
          (e) => e === 'mine',
        )
        barrier.reset()
        assert.deepEqual([barrier.isBroken(), barrier.waiting], [false, 0])
        const round = arrive(barrier, 5)
        await settled()
        assert.deepEqual(
          round.map(({ value }) => value),
          [4, 3, 2, 1, 0],
        )
      }
    })

    it(`break() and reset() break the current round: ${kind}`, async () => {
      const barrier = make(3)
      barrier.break()
      barrier.break()
      assert.ok(barrier.isBroken())
      barrier.reset()
      barrier.reset()
      assert.equal(barrier.isBroken(), false)
      for (const method of ['break', 'reset']) {
        const seen = arrive(barrier, 2)
        barrier[method]()
        assert.deepEqual([barrier.isBroken(), barrier.waiting], [method === 'break', 0])
        await settled()
        assert.deepEqual(reasons(seen), ['ERR_LOCK_BROKEN', 'ERR_LOCK_BROKEN'])
        barrier.reset()
        const round = arrive(barrier, 3)
        await settled()
        assert.deepEqual(states(round), Array(3).fill('fulfilled'))
      }
    })

    it(`a party whose signal aborts while it is read arrives or breaks it: ${kind}`, async () => {
      const barrier = make(2)
      for (const last of [1, 2, 3, 4]) {
        let reads = 0
        const strange = {
          get aborted() {
            return ++reads > last
          },
          addEventListener() {},
          removeEventListener() {},
        }
        const seen = [outcome(barrier.wait()), outcome(barrier.wait({ signal: strange }))]
        await settled()
        const wanted = barrier.isBroken() ? 'rejected' : 'fulfilled'
        assert.deepEqual(states(seen), [wanted, wanted])
        barrier.reset()
      }
    })

    it(`a party that gives up after the round is complete has passed: ${kind}`, async () => {
      const barrier = make(2)
      const controller = new AbortController()
      const one = outcome(barrier.wait({ signal: controller.signal }))
      const other = outcome(barrier.wait())
      controller.abort()
      await settled()
      assert.deepEqual(states([one, other]), ['fulfilled', 'fulfilled'])
      assert.equal(barrier.isBroken(), false)
      const first = outcome(barrier.wait())
      assert.equal(await barrier.wait({ timeout: 0 }), 0, 'the last to come needs no time')
      assert.equal(first.value, 1)
    })
  }

  it('an invalid signal breaks it, and no party waits for ever', async () => {
    const barrier = new Barrier(4)
    const strange = { aborted: false, removeEventListener() {} }
    strange.addEventListener = () => {
      throw new Error('strange')
    }
    const seen = [...arrive(barrier, 2), outcome(barrier.wait({ signal: strange }))]
    await settled()
    assert.equal(seen[2].reason.message, 'strange')
    assert.deepEqual(reasons(seen.slice(0, 2)), ['ERR_LOCK_BROKEN', 'ERR_LOCK_BROKEN'])
  })

  it('names the barrier in errors, and says what to do', async () => {
    const barrier = new Barrier(2, { name: 'of the errors' })
    await assert.rejects(barrier.wait({ timeout: 1 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message:
        'the barrier "of the errors" was not complete within 1 ms and is broken now: reset() starts a new round',
    })
    await assert.rejects(barrier.wait(), {
      code: 'ERR_LOCK_BROKEN',
      message:
        'the barrier "of the errors" is broken, since a party gave up, or break() or reset() was called: reset() starts a new round',
    })
    barrier.reset()
  })
})

describe('Barrier: blocking', function () {
  this.timeout(30_000)
  const agent = useAgents()
  const head = 'const barrier = (my.barrier ??= new boxoffice.Barrier(3, workerData));'

  it('blocks the main thread only if that is allowed, and only if another thread can end the wait', async () => {
    assert.throws(() => new Barrier(1).waitSync(), { name: 'TypeError', message: /main thread/ })
    const barrier = new Barrier(2, allowed)
    assert.throws(() => barrier.waitSync({ timeout: 5 }), { code: 'ERR_LOCK_DEADLOCK' })
    assert.deepEqual([barrier.waiting, barrier.isBroken()], [0, false])
    const first = outcome(barrier.wait())
    assert.equal(barrier.waitSync(), 0)
    await settled()
    assert.equal(first.value, 1)
    barrier.break()
    assert.throws(() => barrier.waitSync(), isBroken)
  })

  it('times out, and is broken then', async () => {
    const barrier = new Barrier(2, { name: freshName(), ...allowed })
    const before = performance.now()
    assert.throws(() => barrier.waitSync({ timeout: 20 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.ok(performance.now() - before >= 19)
    assert.throws(() => barrier.waitSync(), isBroken)
    barrier.reset()
    const first = outcome(barrier.wait())
    assert.equal(barrier.waitSync({ timeout: 0 }), 0)
    await settled()
    assert.equal(first.value, 1)
  })

  it('threads and promises meet, by name and by memory', async () => {
    for (const options of shared()) {
      const barrier = new Barrier(3, options)
      const [one, other] = [agent(options), agent(options)]
      for (let round = 0; round < 3; round++) {
        const blocked = await one.begins(`${head} say(1); return barrier.waitSync()`)
        const waits = [blocked.done, other.does(`${head} return barrier.wait()`)]
        while (barrier.waiting < 2) await sleep(1)
        waits.push(barrier.wait())
        const numbers = await Promise.all(waits)
        assert.equal(numbers[2], 0)
        assert.deepEqual(numbers.sort(), [0, 1, 2])
      }
    }
  })

  it('all threads are told that it is broken', async () => {
    for (const options of shared()) {
      const barrier = new Barrier(3, options)
      for (const how of ['timeout', 'break', 'reset']) {
        const worker = agent(options)
        const code = `${head} say(1); return codeOf(() => barrier.waitSync())`
        const { done } = await worker.begins(code)
        while (barrier.waiting < 1) await sleep(1)
        if (how === 'timeout') await assert.rejects(barrier.wait({ timeout: 1 }))
        else barrier[how]()
        assert.equal(await done, 'ERR_LOCK_BROKEN')
        assert.equal(barrier.isBroken(), how !== 'reset')
        barrier.reset()
      }
    }
  })

  it('is broken for all when a worker that waits there ends', async () => {
    for (const options of shared()) {
      const barrier = new Barrier(3, options)
      const endings = {
        'with a promise': 'barrier.wait(); say(1); setInterval(() => {}, 1000)',
        'with a promise, busy': 'barrier.wait(); say(1); for (;;);',
        blocked: 'say(1); barrier.waitSync()',
      }
      for (const [name, code] of Object.entries(endings)) {
        const worker = agent(options)
        await worker.begins(`${head} ${code}`)
        while (barrier.waiting < 1) await sleep(1)
        const wait = outcome(barrier.wait())
        await within(8000, worker.dies())
        const end = performance.now() + 8000
        while (wait.state === 'pending' && performance.now() < end) await sleep(1)
        assert.equal(wait.reason?.code, 'ERR_LOCK_BROKEN', name)
        assert.ok(barrier.isBroken())
        barrier.reset()
      }
    }
  })

  it('is not broken when a worker ends whose promises have passed, even if it has not read so', async () => {
    const options = { name: freshName() }
    const barrier = new Barrier(3, options)
    const worker = agent(options)
    await worker.begins(`${head} barrier.wait(); barrier.wait(); say(1); for (;;);`)
    assert.equal(await barrier.wait(), 0)
    await worker.dies()
    assert.equal(barrier.isBroken(), false)
  })

  // The same if its timeout ran out before it began to wait.
  const runs = `const once = () => vm.runInNewContext('wait()', { wait: () => barrier.waitSync() }, { timeout: 50 })
    const run = async () => {
      let code
      do { code = await codeOf(once) } while (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' && !barrier.isBroken())
      throw { code }
    }`

  it('breaks when a time limit ends the script that waits, whose thread goes on', async () => {
    const options = { name: freshName() }
    const barrier = new Barrier(3, options)
    const wait = outcome(barrier.wait())
    const code = `${head}
      ${runs}
      return [await codeOf(run), barrier.isBroken()]`
    assert.deepEqual(await agent(options).does(code), ['ERR_SCRIPT_EXECUTION_TIMEOUT', true])
    await settled()
    assert.equal(wait.reason.code, 'ERR_LOCK_BROKEN')
  })

  it('rejects the promises of its own thread, too, when a time limit ends its script', async () => {
    const options = { name: freshName() }
    const code = `${head}
      const mine = codeOf(() => barrier.wait())
      ${runs}
      return [await codeOf(run), await mine]`
    assert.deepEqual(await agent(options).does(code), [
      'ERR_SCRIPT_EXECUTION_TIMEOUT',
      'ERR_LOCK_BROKEN',
    ])
  })
})

describe('Barrier: the process', function () {
  this.timeout(30_000)

  it('is kept alive by a wait that another thread could end, and by no other', async () => {
    const code = (options) => `
      const { Barrier } = require(entry)
      process.on('exit', () => show('exit'))
      new Barrier(2).wait().then(() => show('never'))
      const barrier = new Barrier(2, ${options})
      barrier.wait().then(show, (error) => show(error.code))`
    const worker = (end) => `
      const worker = new Worker(\`
        const { Barrier } = require(\${JSON.stringify(entry)})
        const barrier = new Barrier(2, { name: 'b' })
        require('node:worker_threads').parentPort.postMessage('here')
        setTimeout(() => { ${end} }, 100)\`, { eval: true })
      worker.once('message', () => worker.unref())`
    const named = "{ name: 'b' }"
    assert.deepEqual(await inChild(code(named) + worker('barrier.wait()')), [1, 'exit'])
    const breaks = await inChild(code(named) + worker('barrier.break()'))
    assert.deepEqual(breaks, ['ERR_LOCK_BROKEN', 'exit'])
    assert.deepEqual(await inChild(code(named)), ['exit'], 'there is no other thread')
  })
})
