'use strict'
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const fastify = require('fastify')
const { RWLock } = require('../..') // require('boxoffice')
const { inspector } = require('../../lib/diagnostics/inspector') // require('boxoffice/inspector')
const createLive = require('./live.js')
const locks = require('./locks')
const createShop = require('./shop.js')
const openStore = require('./store')
const trackUnused = require('./unused.js')

/** The locks that the page offers: those that need no server. */
const offered = ['none', 'map', 'boxoffice', ...(process.platform === 'linux' ? ['host'] : [])]
const page = fs.readFileSync(path.join(__dirname, 'page', 'index.html'), 'utf8')
// The page shows the code that runs, not a copy.
const [, code] = fs
  .readFileSync(path.join(__dirname, 'shop.js'), 'utf8')
  .split(/^.*\/\/ the page:.*\n/m)
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const choice = (name) =>
  `<label><input type="radio" name="lock" value="${name}">${locks[name].title}</label>`
const html = page
  .replace('<!-- locks -->', () => offered.map(choice).join('\n      '))
  .replace('<!-- code -->', () =>
    code
      .trimEnd()
      .replace(/^ {2}/gm, '')
      .replace(/[&<>]/g, (c) => escapes[c]),
  )

// The lock and the database must identify users alike. A database may cut a name at a NUL, and
// turns every unpaired surrogate into the same U+FFFD: two keys of the lock would be one buyer. So
// these are refused, with all control characters.
const name = '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]+$'
const claimSchema = {
  body: {
    type: 'object',
    required: ['user'],
    properties: { user: { type: 'string', maxLength: 64, pattern: name } },
  },
}

const eventSchema = {
  body: {
    type: 'object',
    required: ['lock'],
    properties: { lock: { enum: offered } },
  },
}
/**
 * Requiring a body keeps out pages of other sites: browsers ask before they send JSON to another
 * site.
 */
const crowdSchema = {
  body: {
    type: 'object',
    required: ['people'],
    properties: { people: { type: 'integer', minimum: 1, maximum: 1000 } },
  },
}

/**
 * @param {object} options
 * @param {string} options.lock a name of locks/index.js
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
  const made = new Map()
  let lock
  let chosen
  /** A lock that was created keeps its holders: it is used again when it is chosen again. */
  function choose(name) {
    if (!made.has(name)) made.set(name, locks[name].create())
    lock = made.get(name)
    chosen = name
  }
  choose(name)
  const live = createLive(async () => ({
    ...(await summary()),
    orders: await store.recentOrders(50),
    held: lock.held(),
  }))
  const shop = createShop({
    store,
    lock: { runExclusive: (user, work) => lock.runExclusive(user, work) },
    pause: pause > 0 ? () => sleep(pause) : async () => {},
    changed: live.changed,
  })
  const summary = async () => ({
    lock: chosen,
    title: locks[chosen].title,
    ...(await store.summary()),
  })

  // Without coercion: a user 5 is an error of the caller, and must not become the user '5'.
  const app = fastify({ ajv: { customOptions: { coerceTypes: false } } })

  // Purchases share the event; a reset waits until none is under way.
  const event = new RWLock()

  app.post('/tickets', { schema: claimSchema }, async (request, reply) => {
    const { order, created } = await event.runShared(() => shop.claim(request.body.user))
    if (!order) return reply.code(409).send({ error: 'sold out' })
    return reply.code(created ? 201 : 200).send({ ticket: order.id, user: order.buyer, created })
  })

  app.post('/event', { schema: eventSchema }, (request) =>
    event.runExclusive(async () => {
      choose(request.body.lock)
      await store.reset()
      live.changed()
      return summary()
    }),
  )

  let crowd = 0
  app.post('/crowd', { schema: crowdSchema }, async (request) => {
    const names = Array.from({ length: request.body.people }, () => `person ${++crowd}`)
    const settled = await event.runShared(() =>
      Promise.allSettled(names.flatMap((user) => [shop.claim(user), shop.claim(user)])),
    )
    const failed = settled.find(({ status }) => status === 'rejected')
    if (failed) throw failed.reason
    return summary()
  })

  app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(html))
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
  // Open streams, and connections without a request, would keep the server open.
  const closeUnused = trackUnused(app.server)
  app.addHook('preClose', async () => {
    await live.close()
    closeUnused()
  })
  app.addHook('onClose', store.close)
  app.decorate('shop', { store, lock, live })
  return app
}

module.exports.locks = offered
