'use strict'
// One of the processes of processes.js: the shop of server.js, whose database is in another process.
const createServer = require('./server.js')
const { remoteStore } = require('./store/remote.js')

const store = remoteStore()
process.on('disconnect', () => process.exit())

async function main() {
  const app = await createServer({ lock: process.env.SHOP_LOCK, store })
  // All of a cluster get the same one, chosen at random.
  await app.listen({ port: 0, host: '127.0.0.1' })
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
