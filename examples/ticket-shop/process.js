'use strict'
// One of the processes of processes.js: the shop of server.js, whose database is in another process.
const createServer = require('./server.js')
const { remoteStore } = require('./store/remote.js')

process.on('disconnect', () => process.exit())

async function main() {
  const { SHOP_LOCK: lock, SHOP_PAUSE: pause } = process.env
  const app = await createServer({ lock, pause: Number(pause), store: remoteStore() })
  process.send({ url: await app.listen({ port: 0, host: '127.0.0.1' }) })
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
