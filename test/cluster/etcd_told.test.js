'use strict'
// A holder over etcd is told that another request waits, by a second command of that request.
const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const { KVClient } = require('etcd3/lib/rpc.js')
const { connect } = require('./helpers/etcd_connect.js')
const { useEnds } = require('./helpers/ends.js')
const { etcdServer } = require('./helpers/etcd_server.js')

const usual = { key: 'mutex:told', capacity: 1, units: 1, wait: true, first: false }
const request = { ...usual, maxHold: 60_000, claim: 1000, minHold: 0 }

describe('A holder over etcd', function () {
  this.timeout(60_000)
  this.slow(10_000)
  const ends = useEnds()

  /** A driver with a session, whose holder of the lock calls `onWanted`. */
  async function driverOf(server, onWanted) {
    const { driver: makeDriver, close } = await connect(server.port)
    const driver = makeDriver()
    ends.push(async () => {
      await driver.close()
      await close()
    })
    const session = randomBytes(9).toString('base64url')
    await driver.listen(session, { granted() {}, wanted: onWanted, missed() {}, trouble() {} })
    await driver.open(session, 60_000)
    const own = { ...request, session, id: `${session}-1` }
    return { enter: () => driver.enter(own), leave: () => driver.leave({ ...own, keep: 0 }) }
  }

  /** Makes the transaction number `count` from now on fail, after the server has executed it if `isLate`. */
  function failOnce(count, isLate) {
    const { txn } = KVClient.prototype
    const restore = () => {
      KVClient.prototype.txn = txn
    }
    ends.push(async () => restore())
    KVClient.prototype.txn = async function (...args) {
      if (--count > 0) return txn.apply(this, args)
      restore()
      if (isLate) await txn.apply(this, args)
      throw new Error('cut')
    }
  }

  /** A server, a holder, and a promise of the key that the holder is told of. */
  async function heldLock() {
    const server = await etcdServer()
    ends.push(() => server.close())
    let onWanted
    const told = new Promise((resolve) => {
      onWanted = resolve
    })
    const holder = await driverOf(server, onWanted)
    assert.equal((await holder.enter()).state, 'held')
    return { server, told }
  }

  const failures = {
    'whose answer to joining the queue was lost': [1, true],
    'that could not tell it at first': [2, false],
  }
  for (const [what, [count, isLate]] of Object.entries(failures)) {
    it(`is told of a request ${what}`, async () => {
      const { server, told } = await heldLock()
      const waiter = await driverOf(server, () => {})
      failOnce(count, isLate)
      await assert.rejects(waiter.enter(), { message: 'cut' })
      assert.equal((await waiter.enter()).state, 'waiting')
      assert.equal(await told, request.key)
    })
  }

  it('is told of a request behind one that could not tell it and has left', async () => {
    const { server, told } = await heldLock()
    const [first, second] = [await driverOf(server, () => {}), await driverOf(server, () => {})]
    failOnce(2, false)
    await assert.rejects(first.enter(), { message: 'cut' })
    assert.equal((await second.enter()).state, 'waiting')
    await first.leave()
    assert.equal((await second.enter()).state, 'waiting')
    assert.equal(await told, request.key)
  })
})
