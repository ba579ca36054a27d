'use strict'
// One of the processes of processes.js: the shop of server.js, whose database is in another process.
const createServer = require('./server.js')

let last = 0
const pending = new Map()

process.on('message', ({ id, value, error }) => {
  const { resolve, reject } = pending.get(id)
  pending.delete(id)
  if (error === undefined) resolve(value)
  else reject(error)
})
process.on('disconnect', () => process.exit())

/** Every method of the store is a question to the process that has it. */
const store = new Proxy(
  { close: async () => {} },
  {
    get: (own, method) =>
      own[method] ??
      ((...args) =>
        new Promise((resolve, reject) => {
          const id = ++last
          pending.set(id, { resolve, reject })
          process.send({ id, method, args })
        })),
  },
)

async function main() {
  const app = await createServer({ lock: process.env.SHOP_LOCK, store })
  // All of a cluster get the same one, chosen at random.
  await app.listen({ port: 0, host: '127.0.0.1' })
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
