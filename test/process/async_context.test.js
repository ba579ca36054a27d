'use strict'
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')

describe('A thread keeps no AsyncLocalStorage store', () => {
  const code = `
    const { AsyncLocalStorage } = require('node:async_hooks')
    const storage = new AsyncLocalStorage()
    const first = () => {
      const store = {}
      storage.run(store, () => new Mutex({ name: 'a' }).tryAcquire()())
      return new WeakRef(store)
    }
    const store = first()
    await collect()
    show(store.deref() !== undefined)`

  it('of the caller that first used a lock of several threads', async () => {
    assert.deepEqual(await inChild(code, '--expose-gc'), [false])
  })
})
