'use strict'
// Tests a lock with a lease of 1 s while the event loop of its holder is blocked for 2.5 s between
// "find the order" and "create it", and the same user clicks at another process.
const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { engines, redlock } = require('./locks/engines.js')
const openStore = require('./store')
const { serveStore } = require('./store/remote.js')

const blockedFor = 2500
const user = 'somebody'

/** The store's summary after both clicks, for one way to lock. */
async function measureBlockLoop(lock, databaseUrl) {
  const store = await openStore({ tickets: 10, databaseUrl })
  const shops = [startShop(lock, store), startShop(lock, store)]
  try {
    const [first, second] = shops
    await Promise.all(shops.map((shop) => shop.claim('somebody else', 0)))
    const one = first.claim(user, blockedFor)
    await first.isInside()
    const two = second.claim(user, 0)
    const answers = await Promise.all([one, two])
    const summary = await store.summary()
    return { title: titleOf(lock), answers, tickets: summary.sold - 1, doubles: summary.doubles }
  } finally {
    for (const { child } of shops) child.kill()
    await Promise.all(shops.map(({ ended }) => ended))
    await store.close()
  }
}

const titleOf = (lock) => (lock === 'redlock' ? redlock : engines[lock]).title

function startShop(lock, store) {
  const child = fork(path.join(__dirname, 'block_loop_process.js'), [lock], {
    serialization: 'advanced',
  })
  serveStore(store, child)
  const ended = once(child, 'exit')
  let onInside
  let onClaimed
  child.on('message', ({ isInside, claimed }) => {
    if (isInside) onInside()
    if (claimed !== undefined) onClaimed(claimed)
  })
  const inside = new Promise((resolve) => {
    onInside = resolve
  })
  const claim = (who, block) =>
    new Promise((resolve) => {
      onClaimed = resolve
      child.send({ claim: who, block })
    })
  return { child, ended, claim, isInside: () => inside }
}

module.exports = { blockedFor, measureBlockLoop }
