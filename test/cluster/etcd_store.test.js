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
})
