'use strict'
// An upgrade goes ahead of every queued waiter, so it takes no priority and no limit of the queue.
const assert = require('node:assert/strict')
const { RWLock } = require('../..')
const { scopes } = require('../helpers/scopes.js')

for (const [scope, open] of Object.entries(scopes)) {
  describe(`The options of an upgrade, in the scope ${scope}`, () => {
    const optionsOf = open()
    let lock
    let reader
    beforeEach(async () => {
      lock = new RWLock({ ...(await optionsOf()), allowBlockingMainThread: true })
      reader = await lock.acquireRead()
    })
    afterEach(() => reader())

    it('are refused where they would have no meaning, and the caller goes on reading', async () => {
      for (const name of ['priority', 'maxPending', 'weight']) {
        const error = { name: 'TypeError', message: new RegExp(`unknown option "${name}"`) }
        await assert.rejects(async () => reader.upgrade({ [name]: 1 }), error)
        if (scope !== 'engine') assert.throws(() => reader.upgradeSync({ [name]: 1 }), error)
      }
      const advice = {
        name: 'TypeError',
        message: 'options must be an object; for a timeout: { timeout: 5 }',
      }
      await assert.rejects(async () => reader.upgrade(5), advice)
      if (scope !== 'engine') assert.throws(() => reader.upgradeSync(5), advice)
      assert.equal(lock.isWriteLocked(), false)
      assert.ok(lock.isLocked())
    })

    it('are a timeout, a signal and ifAvailable', async () => {
      const other = await lock.acquireRead()
      assert.equal(await reader.upgrade({ ifAvailable: true }), undefined)
      await assert.rejects(reader.upgrade({ timeout: 5 }), { code: 'ERR_LOCK_TIMEOUT' })
      await assert.rejects(reader.upgrade({ signal: AbortSignal.abort() }), { name: 'AbortError' })
      other()
      const writer = await reader.upgrade({ timeout: 1000 })
      writer()
    })
  })
}
