'use strict'
// What a process knows of etcd, with fake answers, which arrive in another order than they were made.
const assert = require('node:assert/strict')
const { namesUnder } = require('../../lib/cluster/etcd/names.js')
const { planEnter } = require('../../lib/cluster/etcd/plan.js')
const { Store } = require('../../lib/cluster/etcd/store.js')
const { freeView } = require('../../lib/cluster/etcd/view.js')

const request = {
  key: 'k',
  id: 'own-1',
  units: 1,
  capacity: 1,
  maxHold: 1000,
  claim: 1,
  minHold: 0,
}
const found = (count) => ({ response_range: { kvs: Array(count).fill({}), more: false } })
const epoch = { response_range: { kvs: [{ value: '7' }] } }
const nothing = [found(0), found(0), found(0), epoch, found(0), found(0)]

/** The sessions known after a command has found, at revision 5, that `other` exists. */
function sessionsAfter(sessionsAt) {
  const answer = { succeeded: false, header: { revision: '5' }, responses: [...nothing, found(1)] }
  const store = new Store({ kv: { txn: async () => answer } }, namesUnder('boxoffice'))
  store.begin('own')
  store.sessions = new Map()
  store.sessionsAt = sessionsAt
  const lock = { mod: 1, capacity: 1, abandoned: false, holders: [{ id: 'other-1', units: 1 }] }
  const plan = store.planOf({ ...freeView(7), lock }, { request })
  planEnter(plan, request)
  return store.commit({ request }, plan).then(() => [...store.sessions.keys()])
}

describe('the store of etcd', () => {
  it('learns of a session by a command before it is notified', async () => {
    assert.deepEqual(await sessionsAfter(4), ['other'])
  })

  it('does not learn of a session by a command older than the last notification', async () => {
    assert.deepEqual(await sessionsAfter(6), [])
  })

  /** A store, and the leases that it has asked for. The first `lost` of them are not there any more. */
  function storeWithLeases(lost) {
    const leases = []
    const leaseGrant = async () => ({ ID: `${leases.push(leases.length)}` })
    const txn = async ({ success: [{ request_put: put }] }) => {
      if (Number(put.lease) <= lost) throw new Error('etcdserver: requested lease not found')
      return { header: { revision: '5' } }
    }
    const client = { kv: { txn }, leaseClient: { leaseGrant } }
    return { store: new Store(client, namesUnder('boxoffice')), leases }
  }

  it('keeps requests out by one lease, however many have left at once', async () => {
    const { store, leases } = storeWithLeases(0)
    await Promise.all(['a-1', 'a-2', 'a-3'].map((id) => store.refuse(id)))
    assert.equal(leases.length, 1)
  })

  it('keeps a request out by another lease after etcd has lost the first one', async () => {
    const { store } = storeWithLeases(1)
    await assert.rejects(store.refuse('a-1'), /lease not found/)
    await store.refuse('a-1')
  })
})
