'use strict'
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const fastify = require('fastify')
const { inspector } = require('../../lib/inspector') // require('boxoffice/inspector')
const createLive = require('./live.js')
const strategies = { ...require('./locks'), ...require('./locks/processes.js') }
const createShop = require('./shop.js')
const openStore = require('./store')
const trackUnused = require('./unused.js')

const page = fs.readFileSync(path.join(__dirname, 'page', 'index.html'))

// The lock and the database must agree on who is who. A database may cut a name at a NUL, and turns
// every lone surrogate into the same U+FFFD: two keys of the lock would be one buyer. So those are
// refused, with all control characters.
const name = '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]+$'
const claimSchema = {
  body: {
    type: 'object',
    required: ['user'],
    properties: { user: { type: 'string', maxLength: 64, pattern: name } },
  },
}

/**
 * @param {object} options
 * @param {string} options.lock a name of locks/index.js or locks/processes.js
 * @param {number} options.tickets how many the event has, unless there is a store
 * @param {number} [options.pause] milliseconds that a purchase takes beside the database
 * @param {string} [options.databaseUrl] of a PostgreSQL; without it SQLite is used
 * @param {object} [options.store] to be used instead of a new one
 * @returns a fastify instance that does not listen yet, with `shop` for tests
 */
module.exports = async function createServer({
  lock: name,
  tickets,
  pause = 0,
  databaseUrl,
  store: given,
}) {
  const store = given ?? (await openStore({ tickets, databaseUrl }))
  const strategy = strategies[name]
  const lock = strategy.create()
  const live = createLive(async () => ({
    ...(await summary()),
    orders: await store.recentOrders(50),
    held: lock.held(),
  }))
  const shop = createShop({
    store,
    lock,
    pause: pause > 0 ? () => sleep(pause) : async () => {},
    changed: live.changed,
  })
  const summary = async () => ({ lock: strategy.title, ...(await store.summary()) })

  // Without coercion: a user 5 is a mistake of the caller, and must not become the user '5'.
  const app = fastify({ ajv: { customOptions: { coerceTypes: false } } })

  app.post('/tickets', { schema: claimSchema }, async (request, reply) => {
    const { order, created } = await shop.claim(request.body.user)
    if (!order) return reply.code(409).send({ error: 'sold out' })
    return reply.code(created ? 201 : 200).send({ ticket: order.id, user: order.buyer, created })
  })

  app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(page))
  app.get('/summary', summary)
  app.get('/events', (_request, reply) => {
    reply.hijack()
    live.add(reply.raw)
  })

  const inspect = inspector()
  for (const path of ['/inspector', '/inspector/*']) {
    app.get(path, (request, reply) => {
      reply.hijack()
      inspect(request.raw, reply.raw)
    })
  }

  app.setErrorHandler((error, _request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) console.error(error)
    return reply.code(status).send({ error: status < 500 ? error.message : 'internal error' })
  })
  // What would keep the server open: the streams, and connections without a request.
  const closeUnused = trackUnused(app.server)
  app.addHook('preClose', async () => {
    await live.close()
    closeUnused()
  })
  app.addHook('onClose', store.close)
  app.decorate('shop', { store, lock, live })
  return app
}
