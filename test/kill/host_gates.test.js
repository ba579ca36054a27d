'use strict'
// Events, latches, barriers and conditions of scope host while a process dies before each of its steps. Uses the build
// of host_steps.test.js.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const boxoffice = require('../..')
const { freshName, within } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')

const root = path.join(__dirname, '..', '..')
const binary = process.env.BOXOFFICE_BINARY ?? path.join(root, 'build', 'kill', 'boxoffice.node')
const turn = () => new Promise(setImmediate)
const soon = (promise) => within(60_000, promise)

/** The numbers of the steps, as in host_steps.test.js. */
const steps = fs
  .readFileSync(path.join(root, 'src', 'host', 'handoff_queue.h'), 'utf8')
  .match(/enum class Step : std::uint8_t \{([^}]*)\}/)[1]
  .split(',')
  .map((step) => step.trim())

const patience = '{ timeout: 5 }'
const ways = ['beforeOwner', 'afterOwner', 'joined', 'parted', 'beforeNotify']

/** By class: the work of a process until it is killed, and a survivor's check of the state. */
const gates = {
  AutoResetEvent: {
    args: [],
    use: `gate.signal(); await gate.wait(${patience})`,
    async check(gate) {
      while (gate.tryWait());
      const waiting = gate.wait()
      assert.equal(gate.isSet(), false)
      gate.signal()
      await soon(waiting)
      assert.equal(gate.isSet(), false)
    },
  },
  ManualResetEvent: {
    args: [],
    use: `gate.set(); gate.reset(); await gate.wait(${patience})`,
    async check(gate) {
      gate.reset()
      const waiting = gate.wait()
      gate.set()
      await soon(waiting)
    },
  },
  CountdownLatch: {
    args: [2 ** 20],
    use: `gate.countDown(); await gate.wait(${patience})`,
    ways: ways.filter((step) => step !== 'beforeNotify'), // the latch is never opened
    async check(gate) {
      const waiting = gate.wait()
      gate.countDown(gate.count)
      await soon(waiting)
    },
  },
  Barrier: {
    args: [2],
    use: `if (gate.isBroken()) gate.reset(); await gate.wait(${patience})`,
    async check(gate) {
      gate.reset()
      assert.deepEqual(await soon(Promise.all([gate.wait(), gate.wait()])), [1, 0])
    },
  },
  ConditionVariable: {
    args: [],
    use: `await mutex.runExclusive(() => { gate.notifyOne(); return gate.wait(mutex, ${patience}) })`,
    wait: (gate, mutex) => mutex.runExclusive(() => gate.wait(mutex, { timeout: 20 })),
    async check(gate, mutex) {
      const wait = () => mutex.runExclusive(() => gate.wait(mutex, { timeout: 30_000 }))
      const waiting = [wait(), wait()]
      await mutex.runExclusive(() => gate.notifyOne())
      await soon(Promise.race(waiting))
      gate.notifyAll()
      await soon(Promise.all(waiting))
      await assert.rejects(
        mutex.runExclusive(() => gate.wait(mutex, { timeout: 20 })),
        { code: 'ERR_LOCK_TIMEOUT' },
      )
    },
  },
}

const waitShortly = (gate) => gate.wait({ timeout: 20 })

describe('death at every step of a gate between processes', function () {
  this.timeout(600_000)
  const hosts = useHosts()

  for (const [Kind, gateOf] of Object.entries(gates)) {
    const { args, use, wait = waitShortly, check } = gateOf
    for (const step of gateOf.ways ?? ways) {
      it(`${Kind} survives a death at the step ${step}`, async () => {
        for (const nth of [1, 2, 5]) {
          const options = { scope: 'host', name: freshName(), directory: hosts.directory }
          const gate = new boxoffice[Kind](...args, options)
          const mutex = new boxoffice.Mutex(options)
          const env = {
            BOXOFFICE_BINARY: binary,
            BOXOFFICE_KILL: `${steps.indexOf(step)}:${nth}`,
          }
          const host = hosts.start(env)
          let isOver = false
          const ended = host.ends().finally(() => {
            isOver = true
          })
          host.does(`
            const { name } = ${JSON.stringify(options)}
            const gate = new boxoffice.${Kind}(...${JSON.stringify(args)}, { scope: 'host', name })
            const mutex = new boxoffice.Mutex({ scope: 'host', name })
            for (;;) {
              try { ${use} } catch {}
            }`)
          // This process waits, too.
          const here = (async () => {
            while (!isOver) {
              if (Kind === 'Barrier' && gate.isBroken()) gate.reset()
              await wait(gate, mutex).catch(() => {})
              await turn() // an event may stay set
            }
          })()
          assert.deepEqual(await soon(ended), [null, 'SIGKILL'])
          await here
          await check(gate, mutex)
        }
      })
    }
  }
})
