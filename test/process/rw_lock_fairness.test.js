'use strict'
// Neither readers nor writers starve among threads. For one thread: test/thread/rw_lock.test.js.
const assert = require('node:assert/strict')
const { RWLock } = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { settled } = require('../helpers/keyed.js')
const { scaled } = require('../helpers/scale.js')

const modes = ['Read', 'Write']

describe('RWLock of several threads: no waiter starves', () => {
  const agent = useAgents()

  for (const [many, one] of [modes, modes.toReversed()]) {
    it(`a thread can ${one.toLowerCase()} where three threads ${many.toLowerCase()} without a pause`, async () => {
      const where = { name: freshName() }
      const lock = new RWLock(where)
      const stop = new Int32Array(new SharedArrayBuffer(4))
      const stream = `const lock = new boxoffice.RWLock(workerData.where)
        let held = lock.acquire${many}Sync()
        say(1)
        while (Atomics.load(workerData.stop, 0) === 0) {
          // Readers overlap: without a queue there would always be one.
          const next = ${many === 'Read' ? 'lock.tryAcquireRead()' : 'undefined'}
          held()
          held = next ?? lock.acquire${many}Sync()
        }
        held()`
      const streams = []
      for (let i = 0; i < 3; i++) streams.push(agent({ where, stop }).begins(stream))
      const begun = await Promise.all(streams)
      for (let i = scaled(100, 10); i > 0; i--) {
        ;(await lock[`acquire${one}`]({ timeout: 5000 }))()
        await settled()
      }
      Atomics.store(stop, 0, 1)
      await Promise.all(begun.map(({ done }) => done))
      assert.equal(lock.isLocked(), false)
    })
  }
})
