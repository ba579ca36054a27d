'use strict'
const createServer = require('../server.js')

const open = []

/** A shop on a random port. `DATABASE_URL` chooses the database here too. */
async function openShop({ lock = 'boxoffice', tickets = 100, pause = 0 } = {}) {
  const app = await createServer({ lock, tickets, pause, databaseUrl: process.env.DATABASE_URL })
  open.push(app)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })

  return {
    ...app.shop,
    app,
    url,
    async send(body, headers = { 'content-type': 'application/json' }) {
      const response = await fetch(`${url}/tickets`, { method: 'POST', headers, body })
      return { status: response.status, ...(await response.json()) }
    },
    claim(user) {
      return this.send(JSON.stringify({ user }))
    },
    async reset() {
      const body = JSON.stringify({ lock })
      const headers = { 'content-type': 'application/json' }
      await (await fetch(`${url}/event`, { method: 'POST', headers, body })).json()
    },
    async summary() {
      return (await fetch(`${url}/summary`)).json()
    },
  }
}

/**
 * Delays creating orders until so many clicks have found none: without a lock this makes the race
 * certain on any machine.
 */
function meetBeforeCreating({ store }, count) {
  const { findOrder, createOrder } = store
  const all = resolvers()
  let found = 0
  store.findOrder = async (...args) => {
    const order = await findOrder.apply(store, args)
    if (++found === count) all.resolve()
    return order
  }
  store.createOrder = async (...args) => {
    await all.promise
    return createOrder.apply(store, args)
  }
}

/** For afterEach. */
async function closeShops() {
  for (const app of open.splice(0)) await app.close()
}

const times = (count, make) => Promise.all(Array.from({ length: count }, (_, i) => make(i)))

/** Promise.withResolvers, which Node 20 lacks. */
function resolvers() {
  let resolve
  const promise = new Promise((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

module.exports = { closeShops, meetBeforeCreating, openShop, resolvers, times }
