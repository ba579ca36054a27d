'use strict'
// The database refuses late writers, with any lock.
const assert = require('node:assert/strict')
const openStore = require('../store')

describe('the fence of the store', () => {
  const late = /has been given to somebody else/
  let store
  beforeEach(async () => {
    store = await openStore({ tickets: 3, databaseUrl: process.env.DATABASE_URL })
  })
  afterEach(() => store.close())

  it('refuses a write with an older token than that of a read', async () => {
    assert.equal(await store.findOrder('ada', 5n), null)
    assert.equal(await store.findOrder('ada', 6n), null)
    await assert.rejects(store.createOrder('ada', 5n), late)
    const order = await store.createOrder('ada', 6n)
    assert.deepEqual(await store.findOrder('ada', 7n), order)
  })

  it('refuses a read with an older token, and keeps one fence per user', async () => {
    await store.findOrder('ada', 5n)
    await assert.rejects(store.findOrder('ada', 4n), late)
    assert.equal(await store.findOrder('bob', 4n), null)
    assert.ok(await store.createOrder('bob', 4n))
  })
})
