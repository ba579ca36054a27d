'use strict'
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')

const keeps = (use) => `
    const { AsyncLocalStorage } = require('node:async_hooks')
    const storage = new AsyncLocalStorage()
    const first = () => {
      const store = {}
      storage.run(store, () => { ${use} })
      return new WeakRef(store)
    }
    const store = first()
    await collect()
    show(store.deref() !== undefined)`

/** What a caller uses first, by what it is called in the names of the tests. */
const uses = {
  'a lock of several threads': "new Mutex({ name: 'a' }).tryAcquire()()",
  'a lock with counters': "new Mutex({ diagnostics: 'counters' }).tryAcquire()()",
  'a lock with full diagnostics': 'new Mutex({ diagnostics: true }).tryAcquire()()',
  'a lock with a warning that is far off': 'new Mutex({ warnAfter: 1_000_000 }).tryAcquire()()',
}

describe('A thread keeps no AsyncLocalStorage store', () => {
  for (const [what, use] of Object.entries(uses)) {
    it(`of the caller that first used ${what}`, async () => {
      assert.deepEqual(await inChild(keeps(use), '--expose-gc'), [false])
    })
  }
})
