'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fc = require('fast-check')
const { DiningPhilosophers, KeyedMutex } = require('../..')
const { freshName, sleep, useAgents, within } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')
const { startWorker } = require('../helpers/workers.js')

const allowed = { allowBlockingMainThread: true }
const most = 2 ** 31 - 1
const notHeld = { code: 'ERR_LOCK_NOT_HELD', message: /philosopher \d of the dining philosophers/ }

describe('DiningPhilosophers', () => {
  it('lets no two neighbours eat at once, and all other philosophers', async () => {
    const table = new DiningPhilosophers(5)
    assert.equal(table.seats, 5)
    await table.begin(0)
    const waits = [1, 4].map((seat) => outcome(table.begin(seat)))
    await settled()
    assert.deepEqual(
      waits.map(({ state }) => state),
      ['pending', 'pending'],
    )
    assert.equal(table.tryBegin(1), undefined)
    table.end(0)
    await settled()
    assert.deepEqual(
      waits.map(({ state }) => state),
      ['fulfilled', 'fulfilled'],
    )
    for (const seat of [0, 2, 3]) assert.equal(table.tryBegin(seat), undefined)
    table.end(1)
    const two = table.tryBegin(2)
    assert.equal(table.tryBegin(3), undefined)
    table.end(4)
    two()
    for (const seat of [0, 2]) assert.ok(table.tryBegin(seat))
    for (const seat of [0, 2]) table.end(seat)
  })

  it('may have one seat, or two', async () => {
    const one = new DiningPhilosophers(1, allowed)
    await one.begin(0)
    const next = outcome(one.begin(0))
    assert.equal(one.tryBegin(0), undefined)
    one.end(0)
    await settled()
    assert.equal(next.state, 'fulfilled')
    one.end(0)
    one.beginSync(0)()
    const two = new DiningPhilosophers(2, allowed)
    await two.begin(1)
    assert.deepEqual([two.tryBegin(0), two.tryBegin(1)], [undefined, undefined])
    two.end(1)
    two.beginSync(0)()
    two.beginSync(1)()
  })

  it('may have very many seats: a fork costs no memory until it is used', async () => {
    const table = new DiningPhilosophers(most)
    await table.begin(most - 1)
    assert.equal(table.tryBegin(0), undefined)
    assert.ok(table.tryBegin(1))
    table.end(most - 1)
    assert.equal(table.tryBegin(0), undefined)
    table.end(1)
    table.tryBegin(0)()
  })

  it('callers of one seat eat one after the other', async () => {
    const table = new DiningPhilosophers(3)
    const order = []
    const eat = async (i) => {
      const release = await table.begin(1)
      order.push(i)
      await settled()
      assert.equal(order.at(-1), i)
      release()
    }
    await Promise.all([1, 2, 3, 4].map(eat))
    assert.deepEqual(order, [1, 2, 3, 4])
  })

  it('ends a meal once, by end() or by its Releaser', async () => {
    const table = new DiningPhilosophers(4)
    assert.throws(() => table.end(1), notHeld)
    await table.begin(0)
    await table.begin(2)
    assert.throws(() => table.end(1), notHeld)
    assert.throws(() => table.end(3), notHeld)
    assert.deepEqual([table.tryBegin(1), table.tryBegin(3)], [undefined, undefined])
    table.end(2)
    assert.throws(() => table.end(2), notHeld)
    table.end(0)
    const first = await table.begin(0)
    assert.equal(first.abandoned, false)
    assert.equal(first.release, first)
    assert.equal(first[Symbol.dispose], first)
    first()
    assert.throws(() => table.end(0), notHeld)
    const second = await table.begin(0)
    first()
    await first[Symbol.asyncDispose]()
    assert.equal(table.tryBegin(1), undefined, 'a stale one ends nothing')
    table.end(0)
    const third = table.tryBegin(0)
    second()
    assert.equal(table.tryBegin(3), undefined)
    third()
  })

  it('a philosopher that gives up holds no fork', async () => {
    const table = new DiningPhilosophers(4, { name: 'of the limits' })
    await table.begin(1)
    const controller = new AbortController()
    // At seat 0 it has one of its forks already, at seat 2 none.
    const limits = [{ timeout: 2 }, { timeout: 0 }, { signal: controller.signal }]
    limits.push(
      { signal: AbortSignal.abort('before') },
      { timeout: 1e6, signal: controller.signal },
    )
    const seen = limits.flatMap((limit) => [0, 2].map((seat) => outcome(table.begin(seat, limit))))
    await settled()
    controller.abort('gone')
    while (seen.some(({ state }) => state === 'pending')) await sleep(1)
    const late = 'ERR_LOCK_TIMEOUT'
    assert.deepEqual(
      seen.map(({ reason }) => reason.code ?? reason),
      [late, late, late, late, 'gone', 'gone', 'before', 'before', 'gone', 'gone'],
    )
    const message =
      'philosopher 0 of the dining philosophers "of the limits" did not get its forks within 2 ms'
    assert.equal(seen[0].reason.message, message)
    table.tryBegin(3)()
    table.end(1)
    for (const seat of [0, 1, 2, 3]) table.tryBegin(seat)()
  })

  it('serves by priority at a fork', async () => {
    const table = new DiningPhilosophers(3)
    await table.begin(0)
    const order = []
    const eat = (seat, options) =>
      table.runExclusive(seat, () => order.push(`${seat} ${JSON.stringify(options)}`), options)
    const all = [eat(0), eat(0, 2), eat(0, { priority: 1 })]
    table.end(0)
    await Promise.all(all)
    assert.deepEqual(order, ['0 2', '0 {"priority":1}', '0 undefined'])
  })

  it('refuses invalid numbers of seats, seats and wait options, and does not change then', async () => {
    for (const bad of [undefined, null, '5', 5n, {}]) {
      assert.throws(() => new DiningPhilosophers(bad), TypeError)
    }
    for (const bad of [0, -1, 1.5, NaN, Infinity, most + 1]) {
      assert.throws(() => new DiningPhilosophers(bad), RangeError)
    }
    for (const bad of [null, 1, 'a', { name: '' }, { buffer: new SharedArrayBuffer(64) }]) {
      assert.throws(() => new DiningPhilosophers(5, bad))
    }
    const table = new DiningPhilosophers(3, allowed)
    const takes = ['begin', 'beginSync', 'tryBegin', 'end'].map(
      (name) => (seat) => table[name](seat),
    )
    for (const take of takes) {
      for (const bad of [undefined, null, '0', 0n, {}]) assert.throws(() => take(bad), TypeError)
      for (const bad of [-1, 3, 0.5, NaN, Infinity]) assert.throws(() => take(bad), RangeError)
    }
    for (const bad of [null, 'a', { timeout: -1 }, { signal: 1 }, { priority: NaN }]) {
      assert.throws(() => table.begin(0, bad))
      assert.throws(() => table.beginSync(0, bad))
      await assert.rejects(table.runExclusive(0, () => {}, bad))
      assert.throws(() => table.runExclusiveSync(0, () => {}, bad))
    }
    await assert.rejects(
      table.runExclusive(3, () => {}),
      RangeError,
    )
    await assert.rejects(table.runExclusive(0), TypeError)
    assert.throws(() => table.runExclusiveSync(0), TypeError)
    for (const seat of [0, 1, 2]) table.tryBegin(seat)()
  })

  it("runExclusive returns the callback's result, never calls it at once, and ends when it throws", async () => {
    const table = new DiningPhilosophers(3, allowed)
    const order = []
    const run = table.runExclusive(0, async () => {
      order.push('callback')
      assert.equal(table.tryBegin(1), undefined)
      return 5
    })
    order.push('returned')
    assert.equal(await run, 5)
    assert.deepEqual(order, ['returned', 'callback'])
    const fail = () => {
      throw new Error('mine')
    }
    await assert.rejects(table.runExclusive(0, fail), { message: 'mine' })
    assert.throws(() => table.runExclusiveSync(0, fail), { message: 'mine' })
    assert.equal(
      table.runExclusiveSync(1, () => table.tryBegin(2)),
      undefined,
    )
    await table.runExclusive(0, () => table.end(0))
    table.tryBegin(0)()
  })

  it('is one table by its name, also for objects of one thread', async () => {
    const name = freshName()
    const [one, other] = [new DiningPhilosophers(5, { name }), new DiningPhilosophers(5, { name })]
    await one.begin(0)
    assert.equal(other.tryBegin(1), undefined)
    other.end(0)
    assert.throws(() => one.end(0), notHeld)
    const mismatch = {
      code: 'ERR_LOCK_MISMATCH',
      message: /the dining philosophers ".*exists with the value 5, not 4: construct it/,
    }
    assert.throws(() => new DiningPhilosophers(4, { name }), mismatch)
    const locks = new KeyedMutex({ name })
    assert.ok(locks.tryLock(0))
    one.tryBegin(0)()
    locks.unlock(0)
    assert.ok(new DiningPhilosophers(4, { name: freshName() }).tryBegin(0))
  })

  it('blocks the main thread only if that is allowed, and never for itself', async () => {
    const table = new DiningPhilosophers(3)
    for (const method of ['beginSync', 'runExclusiveSync']) {
      assert.throws(() => table[method](0, () => {}), { name: 'TypeError', message: /main thread/ })
    }
    const may = new DiningPhilosophers(3, allowed)
    const release = may.beginSync(0)
    assert.throws(() => may.beginSync(1), {
      code: 'ERR_LOCK_DEADLOCK',
      message: /^fork \d of the dining philosophers is already held by this thread/,
    })
    assert.throws(() => may.beginSync(0, { timeout: 1 }), { code: 'ERR_LOCK_DEADLOCK' })
    release()
    for (const seat of [0, 1, 2]) may.beginSync(seat, { timeout: 0 })()
  })
})

describe('DiningPhilosophers, against a model', function () {
  this.timeout(60_000)

  /** Forks are queues, whose heads hold them; every philosopher joins that of its lower fork first. */
  class Model {
    lines = new Map()
    eating = new Map() // philosophers by seat
    begun = []

    constructor(seats) {
      this.seats = seats
    }

    forks(seat) {
      return [...new Set([seat, (seat + 1) % this.seats])].sort((a, b) => a - b)
    }

    queue(fork) {
      if (!this.lines.has(fork)) this.lines.set(fork, [])
      return this.lines.get(fork)
    }

    begin(id, seat) {
      this.go({ id, seat, left: this.forks(seat) })
    }

    /** Joins the queue of the next fork, and goes on while it is at the head. */
    go(one) {
      while (one.left.length > 0) {
        const queue = this.queue(one.left.shift())
        if (queue.push(one) > 1) return
      }
      this.eating.set(one.seat, one)
      this.begun.push(one.id)
    }

    canBegin(seat) {
      return this.forks(seat).every((fork) => this.queue(fork).length === 0)
    }

    end(seat) {
      const one = this.eating.get(seat)
      if (one === undefined) return false
      this.eating.delete(seat)
      this.letGo(this.forks(seat))
      return true
    }

    letGo(forks) {
      // All leave at once, and then the next ones go on.
      const next = forks.toReversed().map((fork) => {
        this.queue(fork).shift()
        return this.queue(fork)[0]
      })
      for (const one of next) if (one !== undefined) this.go(one)
    }

    abort(id) {
      const forks = [...this.lines.keys()].filter((fork) =>
        this.queue(fork).some((o) => o.id === id),
      )
      const one = forks.length === 0 ? undefined : this.queue(forks[0]).find((o) => o.id === id)
      if (one === undefined || this.eating.get(one.seat) === one) return
      const held = forks.filter((fork) => this.queue(fork)[0] === one)
      for (const fork of forks.filter((f) => !held.includes(f))) {
        this.lines.set(
          fork,
          this.queue(fork).filter((o) => o !== one),
        )
      }
      this.letGo(held)
    }
  }

  it('every philosopher eats in its turn, and no other does', async () => {
    const seat = fc.nat(4)
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ op: fc.constant('begin'), seat }) },
      { weight: 1, arbitrary: fc.record({ op: fc.constant('tryBegin'), seat }) },
      { weight: 4, arbitrary: fc.record({ op: fc.constant('end'), seat }) },
      { weight: 1, arbitrary: fc.record({ op: fc.constant('abort'), which: fc.nat(9) }) },
    )
    const play = async (seats, name, script) => {
      const table = new DiningPhilosophers(seats, name === undefined ? {} : { name: freshName() })
      const model = new Model(seats)
      const controllers = []
      const begun = []
      const begin = (at) => {
        const id = controllers.length
        const controller = new AbortController()
        controllers.push(controller)
        table.begin(at, { signal: controller.signal }).then(
          () => begun.push(id),
          () => {},
        )
        model.begin(id, at)
      }
      for (const { op, seat: any, which } of script) {
        const at = any === undefined ? undefined : any % seats
        if (op === 'begin') begin(at)
        if (op === 'tryBegin') {
          const expected = model.canBegin(at)
          const release = table.tryBegin(at)
          assert.equal(release !== undefined, expected)
          release?.()
        }
        if (op === 'end') {
          if (model.end(at)) table.end(at)
          else assert.throws(() => table.end(at), notHeld)
        }
        if (op === 'abort') {
          controllers[which]?.abort()
          model.abort(which)
        }
        await settled()
        assert.deepEqual(begun.toSorted(), model.begun.toSorted())
        for (const [eater] of model.eating) {
          if (seats > 1) assert.ok(!model.eating.has((eater + 1) % seats))
        }
      }
      for (const controller of controllers) controller.abort()
    }
    const scripts = fc.array(step, { maxLength: 40, size: 'max' })
    const names = fc.constantFrom(undefined, undefined, 'named')
    const plays = fc.asyncProperty(fc.integer({ min: 1, max: 5 }), names, scripts, play)
    await fc.assert(plays, { numRuns: 500 })
  })
})

describe('DiningPhilosophers: threads', function () {
  this.timeout(60_000)
  const agent = useAgents()
  const head =
    'const table = (my.table ??= new boxoffice.DiningPhilosophers(5, { name: workerData }));'

  it('blocked workers and promises eat by turns', async () => {
    const name = freshName()
    const table = new DiningPhilosophers(5, { name })
    const worker = agent(name)
    await table.begin(0)
    const { done } = await worker.begins(`${head} say(1)
      table.beginSync(1)
      sleep(20)
      table.end(1)
      return codeOf(() => table.end(0))`)
    await sleep(10)
    table.end(0)
    assert.equal(await done, 'ERR_LOCK_NOT_HELD')
    await table.begin(2)
    const late = `${head} return codeOf(() => table.beginSync(3, { timeout: 5 }))`
    assert.equal(await worker.does(late), 'ERR_LOCK_TIMEOUT')
    const other = `${head} return codeOf(() => table.end(2))`
    assert.equal(await worker.does(other), 'ERR_LOCK_NOT_HELD', 'we eat there, not the worker')
    table.end(2)
    const fewer = 'return codeOf(() => new boxoffice.DiningPhilosophers(4, { name: workerData }))'
    assert.equal(await worker.does(fewer), 'ERR_LOCK_MISMATCH')
  })

  it('never two neighbours at once, and every philosopher eats, in any interleaving of threads', async () => {
    const name = freshName()
    const seats = 5
    const meals = scaled(2000, 40)
    const seen = new Int32Array(new SharedArrayBuffer(4 * (seats + 2)))
    // [0, seats): how many eat there; then: neighbours at once, and meals.
    const eat = `
      const { name, seats, meals, seen } = data
      const table = new DiningPhilosophers(seats, { name })
      const at = (seat) => Atomics.load(seen, (seat + seats) % seats)
      const begin = (seat) => {
        if (Atomics.add(seen, seat, 1) !== 0 || at(seat - 1) + at(seat + 1) > 0) Atomics.add(seen, seats, 1)
      }
      const end = (seat) => {
        if (at(seat - 1) + at(seat + 1) > 0) Atomics.add(seen, seats, 1)
        Atomics.sub(seen, seat, 1)
        Atomics.add(seen, seats + 1, 1)
      }
      const philosopher = async (seat) => {
        for (let i = 0; i < meals; i++) {
          const limits = i % 5 === 0 ? { timeout: i % 3 } : undefined
          let release
          try {
            release = await table.begin(seat, limits)
          } catch (error) {
            if (error.code !== 'ERR_LOCK_TIMEOUT') throw error
            continue
          }
          begin(seat)
          if (i % 4 === 0) await new Promise(setImmediate)
          end(seat)
          i % 2 === 0 ? release() : table.end(seat)
        }
      }
      const blocked = (seat) => {
        for (let i = 0; i < meals; i++) {
          table.runExclusiveSync(seat, () => { begin(seat); end(seat) })
        }
      }`
    const data = { name, seats, meals, seen }
    const AsyncFunction = (async () => {}).constructor
    const promises =
      'return Promise.all(Array.from({ length: seats }, (_, seat) => philosopher(seat)))'
    const here = new AsyncFunction('DiningPhilosophers', 'data', `${eat}; ${promises}`)
    const start = (code) =>
      startWorker(
        `const { DiningPhilosophers } = require(${JSON.stringify(require.resolve('../..'))})
         const run = async (data) => { ${eat}; ${code} }
         run(workerData).then(() => parentPort.postMessage('over'))`,
        data,
      )
    const workers = [
      start(promises),
      start('blocked(1); blocked(3)'),
      start('blocked(0); blocked(2)'),
    ]
    const ends = workers.map((worker) => once(worker, 'message'))
    await Promise.all([here(DiningPhilosophers, data), ...ends])
    assert.equal(seen[seats], 0)
    assert.ok(seen[seats + 1] > 4 * meals, 'every philosopher without a timeout has eaten')
    const table = new DiningPhilosophers(seats, { name })
    for (let seat = 0; seat < seats; seat++) table.tryBegin(seat)()
  })

  it('the forks of workers that end go to the neighbours, which are told', async () => {
    const deaths = scaled(120, 8)
    const code = `
      const { DiningPhilosophers } = require(${JSON.stringify(require.resolve('../..'))})
      const table = new DiningPhilosophers(5, workerData)
      table.begin(1).then(() => {
        parentPort.postMessage('eats')
        table.begin(2)
      })
      setInterval(() => {}, 1000)`
    const one = async (i) => {
      const name = freshName()
      const table = new DiningPhilosophers(5, { name })
      const worker = startWorker(code, { name })
      await once(worker, 'message')
      const early = i % 2 === 0 ? [0, 1, 2].map((seat) => table.begin(seat)) : []
      const ended = worker.terminate()
      if (i % 4 < 2) await ended
      const waits = [...early, ...[0, 2].map((seat) => table.begin(seat))]
      const told = []
      const eat = async (wait) => {
        const release = await wait
        if (release.abandoned) told.push(1)
        release()
      }
      await within(10_000, Promise.all(waits.map(eat)))
      // Both forks report it, unless seat 1 has been told of both deaths.
      assert.ok(told.length === 2 || (i % 2 === 0 && told.length === 1), `${told.length} were told`)
      await ended
      for (let seat = 0; seat < 5; seat++) {
        const release = table.tryBegin(seat)
        assert.equal(release.abandoned, false)
        release()
      }
    }
    for (let i = 0; i < deaths; i += 4) await Promise.all([0, 1, 2, 3].map((j) => one(i + j)))
  })

  it('a wait keeps the process alive while another thread eats, and no longer', async () => {
    const code = `
      const { DiningPhilosophers } = require(entry)
      process.on('exit', () => show('exit'))
      const alone = new DiningPhilosophers(3)
      await alone.begin(0)
      alone.begin(1).then(() => show('never'))
      const worker = new Worker(\`
        const { DiningPhilosophers } = require(\${JSON.stringify(entry)})
        const table = new DiningPhilosophers(3, { name: 't' })
        table.beginSync(0)
        const { parentPort } = require('node:worker_threads')
        parentPort.postMessage('here')
        parentPort.once('message', () => table.end(0))\`, { eval: true })
      await require('node:events').once(worker, 'message')
      worker.unref()
      const table = new DiningPhilosophers(3, { name: 't' })
      table.begin(1).then(() => { show('eats'); table.begin(2).then(() => show('never')) })
      keptAlive().then(() => worker.postMessage('end'))`
    assert.deepEqual(await inChild(code), ['eats', 'exit'])
  })
})
