'use strict'
// The memory by which the event loop leaves claims to the renewing thread, between two real threads: each claim is either
// withdrawn, and then never confirmed, or it is answered once, with the words of its own request.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const fc = require('fast-check')
const { Claims, Slots, slots } = require('../../lib/cluster/claims.js')
const { processClock } = require('../../lib/cluster/clock.js')
const { ClaimWatch, lookEvery } = require('../../lib/cluster/claim_watch.js')
const { VirtualClock } = require('./helpers/virtual_clock.js')

const requestOf = (id, key = `key ${id}`) => ({
  session: 'session',
  id: `${id}`,
  units: 1,
  capacity: 2,
  claim: 1000,
  maxHold: 5000,
  minHold: 0,
  key,
  wait: true,
  first: false,
})
const notLate = () => assert.fail('it was answered in time')
const times = { clock: processClock, patience: 250 }

/** A ClaimWatch in a thread of its own, which looks all the time, and confirms each claim after some turns of its loop. */
const other = `
const { parentPort, workerData } = require('node:worker_threads')
const { ClaimWatch } = require(workerData.file)
const { processClock: { now } } = require(workerData.clockFile)
const turn = () => new Promise(setImmediate)
const clock = { now, setTimeout: (call) => setImmediate(call) }
const failed = new Set()
const watch = new ClaimWatch({ ...workerData, clock, post: (message) => parentPort.postMessage(message) })
watch.use({
  async confirm({ id }) {
    for (let i = id % 3; i > 0; i--) await turn()
    if (id % 7 === 0 && !failed.has(id)) {
      failed.add(id)
      throw new Error('cut')
    }
    return { state: id, wanted: false }
  },
})
parentPort.on('message', () => watch.start())
parentPort.postMessage('ready')
`

describe('Claims between two threads', () => {
  it('are withdrawn or answered, each once', async function () {
    this.timeout(60_000)
    const claims = new Claims({ wake: () => worker.postMessage('claims'), ...times })
    const file = require.resolve('../../lib/cluster/claim_watch.js')
    const clockFile = require.resolve('../../lib/cluster/clock.js')
    const workerData = { buffer: claims.buffer, file, clockFile }
    const worker = new Worker(other, { eval: true, workerData })
    await once(worker, 'message')
    worker.on('message', ({ claim, isLate, answer }) => {
      if (isLate) claims.failed(claim)
      else claims.answered(claim, answer)
    })
    const counts = { answered: 0, late: 0, withdrawn: 0, refused: 0 }
    const one = async (number) => {
      const claim = claims.add(requestOf(number), times.clock.now(), () => {
        assert.equal(number % 7, 0)
        counts.late++
      })
      if (claim === undefined) {
        counts.refused++
        await new Promise(setImmediate)
        return
      }
      let isWithdrawn = false
      const answered = claim.answer.then((answer) => {
        assert.equal(isWithdrawn, false)
        assert.equal(answer.state, `${number}`)
        counts.answered++
      })
      if (number % 2 === 1) return answered
      for (let turns = number % 5; turns > 0; turns--) await new Promise(setImmediate)
      isWithdrawn = claim.withdraw()
      if (!isWithdrawn) return answered
      counts.withdrawn++
    }
    let number = 0
    const end = performance.now() + 3000
    const work = async () => {
      while (performance.now() < end) await one(++number)
    }
    await Promise.all(Array.from({ length: slots + 8 }, work))
    for (const [what, count] of Object.entries(counts)) assert.ok(count > 100, `${what}: ${count}`)
    // No slot is lost.
    const all = Array.from({ length: slots }, () => claims.add(requestOf(1), 0, notLate))
    assert.ok(!all.includes(undefined))
    await Promise.all(all.map(({ answer }) => answer))
    await worker.terminate()
  })

  it('are confirmed after one to two looks, whatever their order', async () => {
    const step = fc.oneof(
      fc.constant('add'),
      fc.nat(20).map((index) => ({ withdraw: index })),
      fc.integer({ min: 1, max: 2 * lookEvery }).map((time) => ({ pass: time })),
      fc.constant({ pass: 100 * lookEvery }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => followModel(steps)),
      { numRuns: 60 },
    )
  })

  it('let the other thread sleep when a second has passed without one', async () => {
    const clock = new VirtualClock()
    let wakes = 0
    const claims = new Claims({
      wake() {
        wakes++
        watch.start()
      },
      clock,
      patience: 250,
    })
    const watch = new ClaimWatch({ buffer: claims.buffer, clock, post: () => {} })
    watch.use({ confirm: async () => ({ state: 'held', wanted: false }) })
    claims.add(requestOf(1), 0, notLate).withdraw()
    await clock.pass(900)
    assert.equal(clock.keepsAlive(), true)
    claims.add(requestOf(2), clock.now(), notLate).withdraw()
    await clock.pass(900)
    assert.equal(clock.keepsAlive(), true)
    await clock.pass(200)
    assert.equal(clock.keepsAlive(), false)
    assert.equal(wakes, 1)
    claims.add(requestOf(3), clock.now(), notLate).withdraw()
    assert.equal(wakes, 2)
    assert.equal(clock.keepsAlive(), true)
  })

  it('reach the other thread as they are, unless they are too long', () => {
    const words = new Slots()
    for (const key of ['', ' ', 'a b  c', '1 2 3', 'line\nend', '\0', 'é😀', '\ud800', '\udc00x']) {
      const request = requestOf('s-1', key)
      assert.equal(words.write(3, request, 12.5), true)
      assert.deepEqual(words.read(3), { request, begun: 12.5 })
    }
    const longest = (length) => words.write(3, requestOf('s-1', 'x'.repeat(length)), 0)
    assert.equal(longest(360), true)
    assert.equal(words.read(3).request.key.length, 360)
    assert.equal(longest(400), false)
  })

  it('are late when there is no answer, once', async () => {
    const clock = new VirtualClock()
    let late = 0
    const claims = new Claims({ wake() {}, clock, patience: 250 })
    new Slots(claims.buffer).canConfirm = true
    await clock.pass(100)
    const claim = claims.add(requestOf(1), 100, () => late++)
    await clock.pass(490)
    assert.equal(late, 0)
    await clock.pass(20)
    assert.equal(late, 1)
    await clock.pass(2000)
    assert.equal(late, 1)
    assert.equal(clock.keepsAlive(), false)
    claim.withdraw()
    await clock.pass(250)
    await assert.rejects(clock.until(new Promise(() => {})), /no timer/)
  })

  it('wake the other thread, or keep it awake, when they come as it goes to sleep', () => {
    const claimed = new Slots()
    claimed.look()
    assert.equal(claimed.need(), false)
    assert.equal(claimed.sleep(), false)
    assert.equal(claimed.look(), true)
    assert.equal(claimed.look(), false)
    assert.equal(claimed.sleep(), true)
    assert.equal(claimed.need(), true)
  })

  /** Each claim is confirmed in the time after it was added, unless it is withdrawn before. */
  async function followModel(steps) {
    const clock = new VirtualClock()
    const confirmed = new Map()
    let number = 0
    const claims = new Claims({ wake: () => watch.start(), clock, patience: 250 })
    const post = ({ claim, answer }) => claims.answered(claim, answer)
    const watch = new ClaimWatch({ buffer: claims.buffer, clock, post })
    watch.use({
      async confirm({ id }) {
        assert.equal(confirmed.has(id), false)
        confirmed.set(id, clock.now())
        return { state: 'held', wanted: false }
      },
    })
    const all = []
    for (const step of steps) {
      if (step === 'add') {
        const id = `${++number}`
        const claim = claims.add(requestOf(id), clock.now(), notLate)
        if (claim !== undefined) all.push({ ...claim, id, at: clock.now(), withdrawnAt: Infinity })
      } else if (step.pass !== undefined) {
        await clock.pass(step.pass)
      } else {
        const one = all[step.withdraw]
        if (one?.withdrawnAt === Infinity && one.withdraw()) one.withdrawnAt = clock.now()
      }
    }
    await clock.pass(100 * lookEvery)
    for (const { id, at, withdrawnAt } of all) {
      const time = confirmed.get(id)
      if (withdrawnAt < Infinity) assert.equal(time, undefined)
      else assert.ok(time - at >= lookEvery && time - at <= 2 * lookEvery, `${time - at} ms`)
    }
    const slotsNow = new Slots(claims.buffer)
    for (let slot = 0; slot < slots; slot++) assert.equal(slotsNow.number(slot), 0)
  }
})
