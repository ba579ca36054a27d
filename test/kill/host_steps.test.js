'use strict'
// Locks of scope host while processes die before every step of the slow path, one after the other:
// with a build with kill points (src/host/kill_points.h), which `npm run test:kill` makes first.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { watchStalls } = require('../helpers/calm')
const { Chaos } = require('../helpers/host_chaos')
const { scaled } = require('../helpers/scale')

const root = path.join(__dirname, '..', '..')
const binary = process.env.BOXOFFICE_BINARY ?? path.join(root, 'build', 'kill', 'boxoffice.node')

/** The steps in a header of src/host: name ─▶ number. */
function stepsOf(header, opening) {
  const text = fs.readFileSync(path.join(root, 'src', 'host', header), 'utf8')
  const body = new RegExp(`${opening} \\{([^}]*)\\}`).exec(text)[1]
  let next = 0
  const steps = {}
  for (const word of body.split(',')) {
    const [name, number] = word.trim().split(' = ')
    if (number) next = Number(number)
    if (!/^(end|kMembershipStepsEnd)$/.test(name)) steps[name] = next++
  }
  return steps
}

const ownership = stepsOf('handoff_queue.h', 'enum class Step : std::uint8_t')
const keys = stepsOf('key_area.h', 'struct KeyStep \\{\\s*enum : int')
const members = stepsOf('kill_points.h', 'enum MembershipStep : int')
const missed = new Set(Object.keys({ ...ownership, ...keys, ...members }))

/** Steps that a process reaches only once. */
const rare = new Set([ownership.cleaned, keys.touch, keys.giveUp, ...Object.values(members)])

/**
 * Makes `count` processes at a time die before these steps, and replaces them, until each step was
 * hit. A process that does not reach its step for a while is killed, which makes work for clean-up
 * steps.
 */
async function dieAt(chaos, steps, count) {
  const hits = scaled(2)
  const left = new Map(Object.values(steps).map((step) => [step, hits]))
  let n = 0
  const next = () => [...left.keys()][n++ % left.size]
  async function dieAndDie() {
    while (left.size > 0) {
      const step = next()
      const nth = rare.has(step) ? 1 : 1 + (n % 7)
      const one = chaos.start({
        env: { BOXOFFICE_BINARY: binary, BOXOFFICE_KILL: `${step}:${nth}` },
      })
      await one.ready
      const timer = new AbortController()
      const tired = sleep(500 + 100 * (n % 8), undefined, { signal: timer.signal }).catch(() => {})
      await Promise.race([one.ended, tired])
      timer.abort()
      if (!one.suicide) await chaos.kill(one)
      if (!one.suicide || !left.has(step)) continue
      if (left.get(step) > 1) left.set(step, left.get(step) - 1)
      else left.delete(step)
    }
  }
  await Promise.all(Array.from({ length: count }, dieAndDie))
}

const only = (names) => Object.fromEntries(names.map((name) => [name, ownership[name]]))
const onTheWay = ['beforeOwner', 'afterOwner', 'beforeNotify']

describe('death at every step between processes', function () {
  // The time until each step is hit depends on chance and on the machine.
  this.timeout(600_000)

  /** Kills processes that follow such a plan, several at a time, beside one that survives. */
  async function survive(plan, steps, count) {
    const chaos = new Chaos({ capacity: 16, blocking: false, ...plan })
    const stalled = watchStalls()
    await chaos.start({ env: { BOXOFFICE_BINARY: binary } }).ready
    await dieAt(chaos, steps, count)
    const report = await chaos.expectClean(stalled)
    assert.ok(report.enters > 0)
    for (const name of Object.keys(steps)) missed.delete(name)
  }

  it('of the owner word, if more processes wait than it has room for', async () => {
    await survive(
      { keys: 1 },
      only([...onTheWay, 'overflowAdded', 'overflowRemoved', 'cleaned']),
      10,
    )
  })

  it('of a lock of readers and writers', async () => {
    const own = ['joined', 'parted', 'claimed', 'written', 'unclaimed']
    await survive({ kind: 'rw', keys: 2 }, only([...onTheWay, ...own, 'cleaned']), 6)
  })

  it('of a semaphore', async () => {
    await survive(
      { kind: 'semaphore', keys: 2 },
      only([...onTheWay, 'joined', 'parted', 'cleaned']),
      6,
    )
  })

  it('of the table of keys', async () => {
    await survive({ keys: 100, fresh: true }, keys, 6)
  })

  it('of joining, opening and cleaning up', async () => {
    await survive({ keys: 3, fresh: true }, members, 4)
  })

  it('of all steps', () => assert.deepEqual([...missed], []))
})
