'use strict'
// Barriers across threads, with an oracle, racing with parties that give up and with workers that
// end.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const path = require('node:path')
const { Worker } = require('node:worker_threads')
const { Barrier } = require('../..')
const { freshName, within } = require('../helpers/agents.js')
const { playAll } = require('../helpers/barrier_party.js')
const { settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')
const { startWorker } = require('../helpers/workers.js')

const party = path.join(__dirname, '..', 'helpers', 'barrier_party.js')
const kinds = {
  'by name': () => ({ name: freshName() }),
  'by memory': () => ({ buffer: new SharedArrayBuffer(8) }),
}

const numbers = (length) => new Int32Array(new SharedArrayBuffer(4 * length))

/** Eight parties: three of the main thread, three of a worker, and two workers that block. */
async function play(make, rounds, method) {
  const parties = 8
  const game = {
    ...{ parties, rounds, at: make(), repairAt: make() },
    ...{ seen: numbers(2 * parties), sums: numbers(rounds + 1), wrong: numbers(1) },
  }
  const here = new Barrier(parties, game.at) // a name lives as long as an object
  const threads = [
    [[3, 4, 5], method],
    [[6], `${method}Sync`],
    [[7], `${method}Sync`],
  ]
  const ends = threads.map(([indexes, does]) => {
    const worker = new Worker(party, { workerData: { game, indexes, method: does } })
    return once(worker, 'message')
  })
  await Promise.all([playAll(game, [0, 1, 2], method), ...ends])
  assert.equal(game.wrong[0], 0)
  assert.deepEqual([here.waiting, here.isBroken()], [0, false])
  return game
}

describe('Barrier: threads', function () {
  this.timeout(120_000)

  for (const [kind, make] of Object.entries(kinds)) {
    it(`no two rounds mix, ${kind}`, async () => {
      const rounds = scaled(3000, 50)
      const { sums } = await play(make, rounds, 'play')
      assert.ok(sums.slice(1).every((sum) => sum === 2 ** 8 - 1))
    })

    it(`a round passes for all or breaks for all, ${kind}`, async () => {
      const rounds = scaled(1500, 50)
      const { sums } = await play(make, rounds, 'playBreaking')
      const [passed, broken] = [sums[0] / 8, sums[1]]
      assert.equal(passed + broken, rounds)
      assert.ok(passed > 0 && broken > 0, `${passed} passed, ${broken} broken`)
    })
  }

  it('a worker that ends while it waits breaks it, each time', async () => {
    const endings = [
      'for (;;);',
      'setInterval(() => {}, 1000)',
      'barrier.waitSync()',
      'barrier.wait(); barrier.wait()',
    ]
    const head = `
      const { Barrier } = require(${JSON.stringify(require.resolve('../..'))})
      const barrier = new Barrier(10, workerData)
      barrier.wait()
      parentPort.postMessage('waits')`
    const deaths = 4 * scaled(50, 2)
    const one = async (i) => {
      const at = kinds[i % 2 === 0 ? 'by name' : 'by memory']()
      const barrier = new Barrier(10, at)
      const worker = startWorker(`${head}; ${endings[i % 4]}`, at)
      const early = i % 3 === 0 ? barrier.wait() : undefined
      early?.catch(() => {})
      await once(worker, 'message')
      const wait = barrier.wait()
      const broken = assert.rejects(wait, { code: 'ERR_LOCK_BROKEN' })
      const ended = worker.terminate()
      await within(10_000, broken)
      if (early !== undefined) await assert.rejects(early, { code: 'ERR_LOCK_BROKEN' })
      await ended
      barrier.reset()
      const round = Array.from({ length: 10 }, () => barrier.wait())
      assert.equal((await Promise.all(round)).at(-1), 0)
    }
    for (let i = 0; i < deaths; i += 4) await Promise.all([0, 1, 2, 3].map((j) => one(i + j)))
  })

  it('a worker that ends while the last party arrives breaks it, or has passed', async () => {
    const code = `
      const { Barrier } = require(${JSON.stringify(require.resolve('../..'))})
      const barrier = new Barrier(3, workerData)
      barrier.wait()
      parentPort.postMessage('waits')
      setInterval(() => {}, 1000)`
    const deaths = 4 * scaled(50, 2)
    const seen = { passed: 0, broken: 0 }
    const one = async (i) => {
      const barrier = new Barrier(3, { shared: true })
      const at = { buffer: barrier.buffer }
      const worker = startWorker(code, at)
      const first = barrier.wait()
      first.catch(() => {})
      await once(worker, 'message')
      // The first of these workers ends only after the last party has arrived.
      let ended = i === 0 ? undefined : worker.terminate()
      for (let turns = (i * 7) % 40; turns > 0; turns--) await settled()
      const last = barrier.wait()
      ended ??= worker.terminate()
      const [a, b] = await within(10_000, Promise.allSettled([first, last]))
      assert.equal(a.status, b.status)
      seen[a.status === 'fulfilled' ? 'passed' : 'broken']++
      await ended
      assert.equal(barrier.isBroken(), a.status === 'rejected')
      assert.equal(barrier.waiting, 0)
    }
    for (let i = 0; i < deaths; i += 4) await Promise.all([0, 1, 2, 3].map((j) => one(i + j)))
    assert.equal(seen.passed + seen.broken, deaths)
    assert.ok(seen.passed > 0)
  })
})
