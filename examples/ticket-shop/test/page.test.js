'use strict'
const assert = require('node:assert/strict')
const { locks } = require('../server.js')
const { usePages } = require('./chromium.js')
const { closeShops, meetBeforeCreating, openShop, resolvers } = require('./helpers.js')

describe('the page, in Chromium', () => {
  const { current, texts, shows } = usePages(closeShops)

  const answers = (count) =>
    current.page.waitForFunction(
      (expected) => document.querySelectorAll('#answers [data-answered]').length === expected,
      {},
      count,
    )

  async function visit(options) {
    const shop = await openShop(options)
    await current.page.goto(shop.url)
    await shows('#link', 'live')
    await shows('#remaining', '100')
    return shop
  }

  const ways = {
    'a double click': () => current.page.click('#once', { count: 2 }),
    'the button that clicks twice': () => current.page.click('#twice'),
  }
  for (const [way, clickTwice] of Object.entries(ways)) {
    it(`sells two tickets without a lock: ${way}`, async () => {
      const shop = await visit({ lock: 'none' })
      meetBeforeCreating(shop, 2)
      await clickTwice()
      await answers(2)
      await shows('#doubles', '1')
      assert.deepEqual(await texts('#orders .bad'), [
        '2  ada, a double ticket',
        '1  ada, a double ticket',
      ])
      assert.deepEqual(await texts('#remaining'), ['98'])
      const [red] = await texts('#answers .bad')
      assert.match(red, /^Click [12]: ticket [12] is yours, and it is a double ticket\.$/)
      assert.equal((await shop.summary()).doubles, 1)
    })

    for (const lock of locks.filter((name) => name !== 'none')) {
      it(`sells one ticket with ${lock}: ${way}`, async () => {
        const shop = await visit({ lock, pause: 500 })
        await clickTwice()
        await answers(2)
        await shows('#sold', '1')
        assert.deepEqual(await texts('#orders li'), ['1  ada'])
        assert.deepEqual(await texts('#doubles'), ['0'])
        assert.deepEqual((await texts('#answers .good')).map((text) => text.slice(9)).sort(), [
          'ticket 1 is yours.',
          'you have ticket 1 already.',
        ])
        assert.equal((await shop.summary()).sold, 1)
      })
    }
  }

  it('switches the lock, and starts with all tickets unsold', async () => {
    const shop = await visit({ lock: 'none' })
    meetBeforeCreating(shop, 2)
    await current.page.click('#twice')
    await answers(2)
    await shows('#doubles', '1')
    await current.page.click('[name=lock][value=map]')
    await shows('#sold', '0')
    assert.deepEqual(await texts('#answers li'), [])
    assert.equal((await shop.summary()).lock, 'map')
    await current.page.click('#twice')
    await answers(2)
    await shows('#sold', '1')
    await current.page.click('#reset')
    await shows('#sold', '0')
    assert.equal((await shop.summary()).lock, 'map')
  })

  for (const lock of ['none', 'boxoffice']) {
    it(`a hundred users double-click with ${lock}`, async () => {
      const shop = await visit({ lock, tickets: 100 })
      const { tickets } = await shop.summary()
      if (lock === 'none') meetBeforeCreating(shop, 2 * tickets)
      await current.page.click('#crowd')
      await answers(1)
      const { sold, people, doubles } = await shop.summary()
      assert.equal(sold, 100)
      assert.equal(people, 100 - doubles)
      assert.equal(doubles > 0, lock === 'none')
      const answer = await texts('#answers li')
      const text =
        lock === 'none'
          ? `${people} buyers have 100 tickets, ${doubles} too many.`
          : 'each of the 100 buyers has exactly one ticket.'
      assert.deepEqual(answer, [`100 people: ${text}`])
      assert.equal((await texts('#answers .bad')).length, lock === 'none' ? 1 : 0)
    })
  }

  it('shows a click as pending until it has its answer', async () => {
    const shop = await visit()
    const inside = resolvers()
    const holder = shop.lock.runExclusive('ada', () => inside.promise)
    await current.page.click('#once')
    await shows('#answers .pending', 'Click 1: the shop has not answered yet.')
    inside.resolve()
    await holder
    await answers(1)
    assert.deepEqual(await texts('#answers .pending'), [])
  })

  it('shows the lines of the shop that run', async () => {
    await visit()
    const [code] = await texts('#code')
    assert.match(code, /^const buy = \(user\) => lock\.runExclusive\(user, /m)
    assert.match(code, /store\.findOrder/)
    // Each function that it calls is shown, or explained in its line.
    assert.match(code, /function createOrder/)
    for (const line of code.split('\n')) {
      if (/\b(?:changed|pause)\(/.test(line)) assert.match(line, /\/\/ \w+/)
    }
  })

  it('shows which locks are held', async () => {
    const shop = await visit()
    const inside = resolvers()
    const holder = shop.lock.runExclusive('ada', () => inside.promise)
    await current.page.click('#once')
    shop.live.changed()
    await shows('#held', 'ada')
    assert.deepEqual(await texts('#orders li'), ['No ticket is sold yet.'])
    inside.resolve()
    await holder
    await answers(1)
    await shows('#held', 'No lock is held.')
    await shows('#orders', '1  ada')
  })

  it('shows any name as text', async () => {
    await visit()
    const name = '<img src=x onerror="document.title=1">'
    await current.page.$eval('#user', (input, value) => Object.assign(input, { value }), name)
    await current.page.click('#once')
    await shows('#orders', `1  ${name}`)
    assert.equal(await current.page.title(), 'Ticket shop')
    assert.equal(await current.page.$('img'), null)
  })

  it('reports errors, and sends no request without a name', async () => {
    const shop = await visit()
    await current.page.$eval('#user', (input) => Object.assign(input, { value: '' }))
    await current.page.click('#twice')
    await current.page.$eval('#user', (input) => Object.assign(input, { value: '  ' }))
    await current.page.click('#once')
    await answers(1)
    assert.match((await texts('#answers .bad'))[0], /^Click 1: body\/user must match/)
    assert.equal((await shop.summary()).sold, 0)
  })
})
