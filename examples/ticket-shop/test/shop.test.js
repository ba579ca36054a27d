'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const strategies = require('../locks')
const { locks: offered } = require('../server.js')
const { closeShops, meetBeforeCreating, openShop, resolvers, times } = require('./helpers.js')

describe('the shop', () => {
  afterEach(closeShops)

  it('sells a ticket, and on the next click finds it again', async () => {
    const shop = await openShop()
    const first = await shop.claim('ada')
    assert.deepEqual(first, { status: 201, ticket: first.ticket, user: 'ada', created: true })
    assert.deepEqual(await shop.claim('ada'), { ...first, status: 200, created: false })
    assert.deepEqual(await shop.summary(), {
      ...{ lock: 'boxoffice', title: 'KeyedMutex' },
      ...{ tickets: 100, remaining: 99, sold: 1, people: 1, doubles: 0 },
    })
  })

  it('reports when it is sold out, and still finds existing orders', async () => {
    const shop = await openShop({ tickets: 1 })
    const { ticket } = await shop.claim('ada')
    assert.deepEqual(await shop.claim('grace'), { status: 409, error: 'sold out' })
    assert.deepEqual(await shop.claim('ada'), { status: 200, ticket, user: 'ada', created: false })
    assert.equal((await shop.summary()).remaining, 0)
  })

  const bad = {
    'no body': undefined,
    'an empty body': '',
    'half a body': '{"user":',
    null: 'null',
    'a list': '["ada"]',
    'no user': '{}',
    'a number': '{"user":5}',
    'a list of users': '{"user":["ada"]}',
    'a user of null': '{"user":null}',
    'an empty user': '{"user":""}',
    'a blank user': '{"user":"  "}',
    'a user with a NUL': '{"user":"ada\\u0000"}',
    'a user with a line break': '{"user":"ada\\n"}',
    'a user with half a character': '{"user":"ada\\ud800"}',
    'a user too long': JSON.stringify({ user: 'a'.repeat(65) }),
  }
  for (const [what, body] of Object.entries(bad)) {
    it(`refuses ${what}`, async () => {
      const shop = await openShop()
      const { status, error } = await shop.send(body)
      assert.equal(status, 400)
      assert.equal(typeof error, 'string')
      assert.equal((await shop.summary()).sold, 0)
    })
  }

  it('refuses another content type, and knows no other page', async () => {
    const shop = await openShop()
    assert.equal((await shop.send('ada', { 'content-type': 'text/csv' })).status, 415)
    assert.equal((await fetch(`${shop.url}/nowhere`)).status, 404)
  })

  it('accepts any text as a name', async () => {
    const shop = await openShop()
    const users = ['__proto__', 'constructor', "'; DROP TABLE orders; --", '<b>', '🎟', ' a', 'a']
    for (const user of users) {
      const answer = await shop.claim(user)
      assert.deepEqual([answer.status, answer.user], [201, user])
    }
    assert.equal((await shop.summary()).people, users.length)
  })

  for (const name of offered) {
    const { title } = strategies[name]
    const locks = name !== 'none'
    it(`${title}: ten clicks at once get ${locks ? 'one ticket' : 'more than one'}`, async () => {
      const shop = await openShop({ lock: name, pause: 100 })
      if (!locks) meetBeforeCreating(shop, 10)
      const answers = await times(10, () => shop.claim('ada'))
      const tickets = new Set(answers.map(({ ticket }) => ticket))
      const { sold, doubles } = await shop.summary()
      assert.equal(tickets.size, sold)
      assert.equal(doubles, sold - 1)
      assert.equal(sold === 1, locks)
    })

    it(`${title}: a reset waits for the purchases under way`, async () => {
      const shop = await openShop({ lock: name, tickets: 10 })
      const { createOrder } = shop.store
      const [begun, wasAsked] = [resolvers(), resolvers()]
      shop.store.createOrder = async (...args) => {
        begun.resolve()
        await wasAsked.promise
        return createOrder.apply(shop.store, args)
      }
      const sale = shop.claim('ada')
      await begun.promise
      const reset = shop.reset()
      await shop.summary()
      wasAsked.resolve()
      await Promise.all([sale, reset])
      const { sold, remaining } = await shop.summary()
      assert.equal(sold + remaining, 10)
    })

    it(`${title}: fifty users at once get no more tickets than there are`, async () => {
      const shop = await openShop({ lock: name, tickets: 10 })
      const answers = await times(50, (i) => shop.claim(`user-${i}`))
      assert.equal(answers.filter(({ status }) => status === 201).length, 10)
      assert.equal(answers.filter(({ status }) => status === 409).length, 40)
      const { sold, remaining } = await shop.summary()
      assert.deepEqual({ sold, remaining }, { sold: 10, remaining: 0 })
    })
  }

  for (const name of offered) {
    const { title } = strategies[name]
    const locks = name !== 'none'
    if (!locks) continue
    it(`${title}: is held while a click is served, by that user only, and leaves nothing behind`, async () => {
      const shop = await openShop({ lock: name })
      const inside = resolvers()
      const holder = shop.lock.runExclusive('ada', () => inside.promise)
      const click = shop.claim('ada')
      await shop.claim('grace')
      assert.deepEqual(shop.lock.held(), ['ada'])
      inside.resolve()
      await Promise.all([holder, click])
      assert.deepEqual(shop.lock.held(), [])
    })
  }

  it('takes another lock and starts over when the page says so', async () => {
    const shop = await openShop({ lock: 'none' })
    await shop.claim('ada')
    const choose = (lock) =>
      fetch(`${shop.url}/event`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ lock }),
      })
    assert.equal((await choose('map')).status, 200)
    assert.deepEqual(await shop.summary(), {
      ...{ lock: 'map', title: 'Map of async-mutex' },
      ...{ tickets: 100, remaining: 100, sold: 0, people: 0, doubles: 0 },
    })
    assert.equal((await choose('toString')).status, 400)
    assert.equal((await choose('redis')).status, 400)
  })

  it('puts the ticket back and frees the lock when the order fails, and reports it', async () => {
    const shop = await openShop({ tickets: 1 })
    const { createOrder } = shop.store
    const failure = new Error('the disk is full')
    shop.store.createOrder = async () => {
      throw failure
    }
    const { error: print } = console
    const printed = []
    console.error = (...args) => printed.push(...args)
    try {
      assert.deepEqual(await shop.claim('ada'), { status: 500, error: 'internal error' })
    } finally {
      console.error = print
    }
    assert.deepEqual(printed, [failure])
    assert.deepEqual(shop.lock.held(), [])

    shop.store.createOrder = createOrder
    assert.equal((await shop.claim('ada')).status, 201)
  })

  it('sends the state to a page, and forgets the page when it leaves', async () => {
    const shop = await openShop()
    const leave = new AbortController()
    const asked = once(shop.app.server, 'request')
    const page = await fetch(`${shop.url}/events`, { signal: leave.signal })
    assert.equal(page.headers.get('content-type'), 'text/event-stream')
    const reader = page.body.pipeThrough(new TextDecoderStream()).getReader()
    let received = ''
    const next = async () => {
      while (!received.includes('\n\n')) received += (await reader.read()).value
      const [event, ...rest] = received.split('\n\n')
      received = rest.join('\n\n')
      return JSON.parse(event.replace(/^data: /, ''))
    }

    assert.deepEqual(await next(), {
      ...{
        lock: 'boxoffice',
        title: 'KeyedMutex',
        tickets: 100,
        remaining: 100,
        sold: 0,
        people: 0,
        doubles: 0,
      },
      ...{ orders: [], held: [] },
    })
    const { ticket } = await shop.claim('ada')
    let state = await next()
    while (state.sold === 0 || state.held.length > 0) state = await next()
    assert.deepEqual(state.orders, [{ id: ticket, buyer: 'ada' }])

    assert.equal(shop.live.size, 1)
    const [, response] = await asked
    const closed = once(response, 'close')
    leave.abort()
    await closed
    assert.equal(shop.live.size, 0)
  })

  it('closes with pages open', async () => {
    const shop = await openShop()
    const page = await fetch(`${shop.url}/events`)
    await closeShops()
    await page.text()
    assert.equal(shop.live.size, 0)
  })
})
