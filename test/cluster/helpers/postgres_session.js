'use strict'
// A driver of PostgreSQL with a session, without the queue of a process in front.
const { randomUUID } = require('node:crypto')
const { makeDriver } = require('../../../lib/cluster/postgres/driver.js')

/** A session over `pool`, and promises of its grants: each resolves to the grant. `ends` are called after the test. */
async function sessionOver(pool, ends) {
  const driver = makeDriver(pool, {})
  const id = randomUUID()
  const granted = new Map()
  const wake = (which, grant) => granted.get(which)?.(grant)
  await driver.listen(id, { granted: wake, wanted() {}, missed() {}, trouble() {} })
  const keeper = await require(driver.keeper.module).connect(driver.keeper.data)
  await keeper.open(id, 60_000)
  ends.push(async () => {
    await keeper.close()
    if (one.isClosed) return
    await driver.end(id)
    await driver.close()
  })
  let last = 0
  const times = { claim: 20_000, maxHold: 60_000, minHold: 0 }
  const common = { session: id, wait: true, first: false, ...times }
  const one = {
    id,
    driver,
    isClosed: false,
    request: (key, units, capacity) => ({ ...common, key, units, capacity, id: `${id}-${++last}` }),
    whenGranted: (which) => new Promise((resolve) => granted.set(which, resolve)),
    enter: (wish) => driver.enter(wish),
    leave: (wish, more = {}) =>
      driver.leave({ ...wish, keep: 0, untold: false, unused: false, ...more }),
  }
  return one
}

module.exports = { sessionOver }
