'use strict'
// Locks of scope host while processes are killed at random moments, and without kills: a death
// wakes every process, which would hide a lost wake-up.
//
// `npm run test:chaos` kills 2,000 processes, and runs equally long without kills.
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { setTimeout: sleep } = require('node:timers/promises')
const { watchStalls } = require('../helpers/calm')
const { Chaos } = require('../helpers/host_chaos')
const { scaled } = require('../helpers/scale')
const { itOnPosix, skip } = require('../helpers/skip.js')

const processes = Math.min(6, scaled(6, 3))

// A process's number is its seed, but the moments of its death depend on the machine.
let state = 1
function dice(sides) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * sides)
}

async function startAll(chaos, count, how) {
  for (let i = 0; i < count; i++) chaos.start(how)
  await Promise.all(chaos.alive.map((one) => one.ready))
}

/** Kills one process after the other at random moments of its life, and starts a replacement. */
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
  // About as many slots as keys, so that idle keys constantly make room for others.
  { kind: 'mutex', keys: 1000, capacity: 512 },
  { kind: 'rw', keys: 3, capacity: 16 },
  { kind: 'semaphore', keys: 3, capacity: 16 },
]

/** The sums of all runs, shown at the end. */
const seen = { kills: 0, entries: 0, longestWait: 0, longestStuck: 0 }

async function expectClean(chaos, stalled) {
  const report = await chaos.expectClean(stalled)
  seen.kills += report.killed
  seen.entries += report.enters
  // Not while processes are stopped on purpose.
  if (stalled) {
    seen.longestWait = Math.max(seen.longestWait, report.longestWait)
    seen.longestStuck = Math.max(seen.longestStuck, report.longestStuck)
  }
  return report
}

describe('chaos between processes', function () {
  this.timeout(scaled(30_000, 120_000))
  let chaos

  afterEach(() => chaos?.abandon())
  after(() => {
    const ms = (micros) => Math.round(micros / 1000)
    const { kills, entries, longestWait, longestStuck } = seen
    console.log(
      `    ${kills} kills, ${entries} entries; the longest wait ${ms(longestWait)} ms, the longest`,
      `time that a lock stood free and was waited for ${ms(longestStuck)} ms (0: less than 200)`,
    )
  })

  for (const plan of plans) {
    const what = `${plan.kind}, ${plan.keys} keys`

    it(`${what}: killed processes leave no lock held, and no waiter waits for ever`, async () => {
      chaos = new Chaos(plan)
      const stalled = watchStalls()
      const kills = scaled(10, 3)
      await killSome(chaos, kills)
      // The survivors go on until they are told to stop.
      while (chaos.entries() <= kills) await sleep(10)
      const report = await expectClean(chaos, stalled)
      assert.equal(report.killed, kills)
      assert.ok(report.enters > kills)
    })

    it(`${what}: without deaths no waiter is forgotten either`, async () => {
      chaos = new Chaos(plan)
      const stalled = watchStalls()
      await startAll(chaos, processes)
      await sleep(scaled(750, 300))
      const report = await expectClean(chaos, stalled)
      assert.equal(report.takenOver + report.abandoned, 0)
    })
  }

  it('more processes wait for one key than its word has room for', async () => {
    chaos = new Chaos({ keys: 1, capacity: 16, promises: 2, blocking: false })
    const stalled = watchStalls()
    await startAll(chaos, Math.min(12, scaled(12, 7)))
    await sleep(scaled(750, 300))
    for (const one of chaos.alive.slice(0, 2)) await chaos.kill(one)
    await sleep(scaled(150, 150))
    await expectClean(chaos, stalled)
  })

  itOnPosix('a stopped process only costs time', async () => {
    chaos = new Chaos({ keys: 3, capacity: 16 })
    await startAll(chaos, processes)
    for (let i = 0; i < scaled(5, 3); i++) {
      const { child } = chaos.alive[i % processes]
      child.kill('SIGSTOP')
      await sleep(100)
      child.kill('SIGCONT')
      await sleep(20)
    }
    const report = await expectClean(chaos)
    assert.equal(report.abandoned, 0)
  })

  it("processes of different pid namespaces share locks and learn of each other's deaths", async function () {
    const wrap = ['unshare', '--pid', '--fork', '--kill-child']
    if (spawnSync(wrap[0], [...wrap.slice(1), 'true']).status !== 0)
      skip(this, 'this user cannot make pid namespaces')
    chaos = new Chaos({ keys: 3, capacity: 16 })
    const stalled = watchStalls()
    await startAll(chaos, 2)
    await startAll(chaos, 2, { wrap })
    for (let i = 0; i < scaled(3, 2); i++) {
      await sleep(50)
      await chaos.kill(chaos.alive[dice(chaos.alive.length)])
      await startAll(chaos, 1, i % 2 === 0 ? { wrap } : {})
    }
    await expectClean(chaos, stalled)
  })
})
