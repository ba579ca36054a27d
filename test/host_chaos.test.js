'use strict'
// Locks of scope host while processes are killed at random moments; and the same without kills, since a bell that is lost hides behind a death that wakes everybody.
//
// BOXOFFICE_TEST_SCALE=10 for all of 2,000 kills.
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { setTimeout: sleep } = require('node:timers/promises')
const { Chaos } = require('./helpers/host_chaos')
const { scaled } = require('./helpers/scale')

const processes = 6

// The seeds are the numbers of the processes; when they are killed is the machine's, too.
let state = 1
function dice(sides) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * sides)
}

/** How far behind this process's own timers were at worst: so long everything may have stood still. */
function watchStalls() {
  let last = performance.now()
  let worst = 0
  const timer = setInterval(() => {
    const now = performance.now()
    worst = Math.max(worst, now - last - 10)
    last = now
  }, 10)
  return () => {
    clearInterval(timer)
    return worst
  }
}

async function endOf(chaos, stalled) {
  await chaos.finish()
  const report = await chaos.report()
  assert.deepEqual(report.faults, [])
  if (stalled !== undefined) {
    const most = 1_000_000 + 1000 * stalled()
    assert.ok(report.longestStuck < most, `${report.stuck} for ${report.longestStuck} us`)
  }
  return report
}

async function startAll(chaos, count, how) {
  for (let i = 0; i < count; i++) chaos.start(how)
  await Promise.all(chaos.alive.map((one) => one.ready))
}

/** Kills one after the other, at random moments from its birth on, and starts another in its place. */
async function killSome(chaos, kills) {
  for (let i = 0; i < processes; i++) chaos.start()
  await Promise.all(
    Array.from({ length: processes }, async (_, i) => {
      const mine = Math.floor(kills / processes) + (i < kills % processes ? 1 : 0)
      let one = chaos.alive[i]
      for (let n = 0; n < mine; n++) {
        // One of eight dies while it joins.
        if (dice(8) > 0) await one.ready
        await sleep(dice(60))
        await chaos.kill(one)
        one = chaos.start()
      }
      await one.ready
    }),
  )
}

const plans = [
  { kind: 'mutex', keys: 3, capacity: 16 },
  // As many slots as keys, about: those that rest make room for others all the time.
  { kind: 'mutex', keys: 1000, capacity: 512 },
  { kind: 'rw', keys: 3, capacity: 16 },
  { kind: 'semaphore', keys: 3, capacity: 16 },
]

describe('chaos between processes', function () {
  this.timeout(scaled(300_000, 120_000))

  for (const plan of plans) {
    const what = `${plan.kind}, ${plan.keys} keys`

    it(`${what}: whoever is killed leaves nothing locked, and nobody waits for ever`, async () => {
      const chaos = new Chaos(plan)
      const stalled = watchStalls()
      const kills = scaled(50, 6)
      await killSome(chaos, kills)
      const report = await endOf(chaos, stalled)
      assert.equal(report.killed, kills)
      assert.ok(report.enters > kills)
    })

    it(`${what}: without a death nobody is forgotten either`, async () => {
      const chaos = new Chaos(plan)
      const stalled = watchStalls()
      await startAll(chaos, processes)
      await sleep(scaled(2000, 500))
      const report = await endOf(chaos, stalled)
      assert.equal(report.takenOver + report.abandoned, 0)
    })
  }

  it('more processes wait for one key than its word has room for', async () => {
    const chaos = new Chaos({ keys: 1, capacity: 16, promises: 2, blocking: false })
    const stalled = watchStalls()
    await startAll(chaos, 12)
    await sleep(scaled(2000, 500))
    for (const one of chaos.alive.slice(0, 4)) await chaos.kill(one)
    await sleep(scaled(500, 200))
    await endOf(chaos, stalled)
  })

  it('a stopped process costs time, and nothing else', async () => {
    const chaos = new Chaos({ keys: 3, capacity: 16 })
    await startAll(chaos, processes)
    for (let i = 0; i < scaled(10, 3); i++) {
      const { child } = chaos.alive[i % processes]
      child.kill('SIGSTOP')
      await sleep(100)
      child.kill('SIGCONT')
      await sleep(20)
    }
    const report = await endOf(chaos)
    assert.equal(report.abandoned, 0)
  })

  it('processes of different pid namespaces share locks, and their deaths', async function () {
    const wrap = ['unshare', '--pid', '--fork', '--kill-child']
    if (spawnSync(wrap[0], [...wrap.slice(1), 'true']).status !== 0) this.skip()
    const chaos = new Chaos({ keys: 3, capacity: 16 })
    const stalled = watchStalls()
    await startAll(chaos, 2)
    await startAll(chaos, 2, { wrap })
    for (let i = 0; i < scaled(6, 2); i++) {
      await sleep(50)
      await chaos.kill(chaos.alive[dice(chaos.alive.length)])
      await startAll(chaos, 1, i % 2 === 0 ? { wrap } : {})
    }
    await endOf(chaos, stalled)
  })
})
