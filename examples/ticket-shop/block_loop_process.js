'use strict'
// One of the two shops of block_loop.js, with a database in another process.
const { engines, redlock } = require('./locks/engines.js')
const createShop = require('./shop.js')
const { remoteStore } = require('./store/remote.js')

const [name] = process.argv.slice(2)
const lock = (name === 'redlock' ? redlock : engines[name]).create()
let block = 0

async function pause() {
  if (block === 0) return
  await new Promise((resolve) => process.send({ isInside: true }, resolve))
  // This thread stands still meanwhile: no timer, no answer, no renewal.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, block)
}

const shop = createShop({ store: remoteStore(), lock, pause, changed() {} })

process.on('message', async ({ claim, block: time }) => {
  if (claim === undefined) return
  block = time
  const claimed = await shop.claim(claim).then(
    ({ order, created }) => ({ ticket: order.id, created }),
    (error) => ({ error: error.message }),
  )
  process.send({ claimed })
})
process.on('disconnect', () => process.exit())
