'use strict'
// What the scripts of the inspector's page compute, without a browser. The ticket shop's tests view the page in Chromium.
const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')
const { page } = require('../../lib/diagnostics/inspector/page.js')

const folder = path.join(__dirname, '..', '..', 'lib', 'diagnostics', 'inspector', 'page')
const scripts = [...page.matchAll(/<script>(.*?)<\/script>/gs)].map(([, code]) => code)

/** The value of `expression` among the scripts of the page, except the last one, which draws it. */
const context = vm.createContext({ URLSearchParams, Intl })
for (const code of scripts.slice(0, -1)) vm.runInContext(code, context)
const inPage = (expression) => vm.runInContext(expression, context)
/** Objects of the context have another prototype. */
const plain = (value) => JSON.parse(JSON.stringify(value))

describe("the scripts of the inspector's page", () => {
  it('declare each name once: they share one scope with the browser', () => {
    const names = scripts.flatMap((code) =>
      [...code.matchAll(/^(?:async )?(?:function|const|let) (\w+)/gm)].map(([, name]) => name),
    )
    assert.ok(names.length > 50)
    const ofBrowsers = ['history', 'location', 'name', 'top', 'status', 'event', 'open', 'close']
    const seen = new Set(ofBrowsers)
    const repeated = names.filter((name) => seen.size === seen.add(name).size)
    assert.deepEqual(repeated, [])
  })

  it('find their marks in the document', () => {
    const html = readFileSync(path.join(folder, 'index.html'), 'utf8')
    const ids = scripts.flatMap((code) =>
      [...code.matchAll(/byId\('([\w-]+)'\)/g)].map(([, id]) => id),
    )
    assert.ok(ids.length > 15)
    for (const id of ids) assert.ok(html.includes(`id="${id}"`), id)
  })

  it('have an explanation of each heading', () => {
    const heads = [...page.matchAll(/<th [^>]*>/g)].map(([head]) => head)
    assert.equal(heads.length, 20)
    for (const head of heads) assert.match(head, / title="[A-Z0-9][^"]{10,}\."/)
  })

  describe('sort', () => {
    const { nextSort, sortedBy } = inPage('({ nextSort, sortedBy })')
    const clicks = (isNumber) => {
      const seen = []
      let sort
      for (let i = 0; i < 4; i++) {
        sort = nextSort(sort, 2, isNumber)
        seen.push(sort?.isDown)
      }
      return seen
    }

    it('down, up and not at all for numbers; up first for text', () => {
      assert.deepEqual(clicks(true), [true, false, undefined, true])
      assert.deepEqual(clicks(false), [false, true, undefined, false])
      assert.deepEqual(plain(nextSort({ column: 1, isDown: false }, 2, true)), {
        ...{ column: 2, isDown: true },
      })
    })

    it('numbers within text, with what is missing last in either direction', () => {
      const rows = ['user-10', '', 'user-9', undefined, 'ada'].map((key, id) => ({ key, id }))
      const keys = (isDown) => plain(sortedBy(rows, ({ key }) => key, isDown).map(({ id }) => id))
      assert.deepEqual(keys(false), [4, 2, 0, 1, 3])
      assert.deepEqual(keys(true), [0, 2, 4, 1, 3])
    })

    it('keep the order of equal rows, and the given rows', () => {
      const rows = [1, 0, 1, 5, 1].map((hold, id) => ({ hold, id }))
      const sorted = sortedBy(rows, ({ hold }) => hold, true)
      assert.deepEqual(plain(sorted.map(({ id }) => id)), [3, 0, 2, 4, 1])
      assert.equal(rows[0].id, 0)
    })
  })

  describe('address', () => {
    const { addressOf, chosenIn } = inPage('({ addressOf, chosenIn })')

    it('a row of any name by the fragment', () => {
      for (const id of ['Mutex process orders', 'users string a&b=c#d%', '1 + 1 ü \ud800…']) {
        const address = addressOf({ pathname: '/locks', search: '' }, '', id)
        assert.match(address, /^\/locks#row=[\w%.+*-]+$/)
        assert.equal(chosenIn(address.slice(6)), id.toWellFormed())
      }
      assert.equal(chosenIn(''), undefined)
      assert.equal(chosenIn('#%'), undefined)
    })

    it('the filter and the number of rows by the query', () => {
      const at = { pathname: '/locks', search: '?top=5&filter=old' }
      assert.equal(addressOf(at, 'a b', undefined), '/locks?top=5&filter=a+b')
      assert.equal(addressOf(at, '', 'x'), '/locks?top=5#row=x')
      assert.equal(addressOf({ pathname: '/', search: '?filter=old' }, '', undefined), '/')
    })
  })

  describe('group', () => {
    const { groupsOf, headOf, linesOf, holdersOf, siteOf, detailsOf } = inPage(
      '({ groupsOf, headOf, linesOf, holdersOf, siteOf, detailsOf })',
    )
    const time = (since) => new Date(since).toLocaleTimeString()
    const holder = (since, more) => ({ thread: 0, since, ...more })

    it('holders and waiters by the stack, which is shown once', () => {
      const groups = groupsOf({
        holders: [holder(5, { stack: 1 }), holder(3, { stack: 1 }), holder(1, { stack: 0 })],
        waiters: [holder(9, { stack: 1 }), holder(9, { stack: 2 }), holder(9)],
      })
      assert.deepEqual(plain(groups.map(({ stack }) => [stack ?? null])), [[1], [0], [2], [null]])
      assert.deepEqual(plain(groups.map(headOf)), [
        ...['2 holders, 1 waiter, same place', '1 holder', '1 waiter', '1 waiter'],
      ])
    })

    it('equal holders in one line, with the time of the first', () => {
      const some = [holder(7000), holder(5000), holder(9000), holder(8000, { thread: 3 })]
      assert.deepEqual(plain(linesOf(some, 1)), [
        ...[`3 × main thread, first since ${time(5000)}`, `thread 3, since ${time(8000)}`],
      ])
      const unknown = [{ pid: 7 }, { pid: 7 }, holder(1000, { isLeaked: true })]
      assert.deepEqual(plain(linesOf(unknown, 1)), [
        ...['2 × process 7', `main thread, Releaser collected, since ${time(1000)}`],
      ])
    })

    it('the holders of a row in a few words', () => {
      const one = holder(1)
      assert.equal(holdersOf({ held: 0, holders: [] }, 1), 'not held')
      assert.equal(holdersOf({ held: 1, holders: [one] }, 1), 'main thread')
      assert.equal(holdersOf({ held: 2, holders: [one, one] }, 1), '2 × main thread')
      const other = holder(1, { thread: 2 })
      assert.equal(holdersOf({ held: 2, holders: [other, one] }, 1), 'thread 2 and 1 more')
      assert.equal(holdersOf({ held: 30, holders: [one, one] }, 1), 'main thread and 29 more')
    })

    it('frames to the file and line of the first', () => {
      assert.equal(
        siteOf('at makeShop (/srv/app/shop.js:12:5)\nat main (/srv/app/main.js:1:1)'),
        'shop.js:12',
      )
      assert.equal(siteOf('at file:///srv/shop.mjs:12:5'), 'shop.mjs:12')
      assert.equal(siteOf('at new Shop (C:\\srv\\shop.js:12:5)'), 'shop.js:12')
      assert.equal(siteOf('at Array.map (<anonymous>)'), undefined)
      assert.equal(siteOf(undefined), undefined)
    })

    it('all of it in the details, with the number of those that are not listed', () => {
      const row = {
        lock: { kind: 'Semaphore', madeAt: 'at makePool (/srv/pool.js:3:1)' },
        ...{ held: 3, holders: [holder(5000, { stack: 0 })] },
        ...{ waiting: 2, waiters: [holder(6000, { stack: 0 })], mark: 'long' },
      }
      assert.deepEqual(plain(detailsOf(row, ['at query (db.js:1:1)'], 1)), [
        ['h3', 'Semaphore at pool.js:3'],
        ['p', '3 holders, 2 waiting'],
        ['p', 'Held for more than 2 minutes.', 'bad'],
        ['h4', '1 holder, 1 waiter, same place'],
        ['p', `held by main thread, since ${time(5000)}`],
        ['p', `waiting: main thread, since ${time(6000)}`],
        ['pre', 'at query (db.js:1:1)'],
        ['p', '2 more holders'],
        ['p', '1 more waiter'],
        ['h4', 'made here'],
        ['pre', 'at makePool (/srv/pool.js:3:1)'],
      ])
    })
  })

  describe('remember', () => {
    const { remember, sparkPath, sparkLabel } = inPage('({ remember, sparkPath, sparkLabel })')
    const over = (samples) => samples.reduce((all, [at, waiting]) => remember(all, at, waiting), [])

    it('the waiters of five minutes, at most one number a second', () => {
      let samples = []
      for (let at = 0; at < 3_600_000; at += 200) samples = remember(samples, at, at % 7)
      assert.equal(samples.length, 300)
      assert.ok(samples[0].at > samples.at(-1).at - 300_000)
    })

    it('the most of each second', () => {
      const samples = over([
        [0, 1],
        [400, 9],
        [800, 2],
        [1000, 3],
      ])
      assert.deepEqual(plain(samples), [
        { at: 0, waiting: 9 },
        { at: 1000, waiting: 3 },
      ])
    })

    it('nothing from before the clock was set back', () => {
      assert.deepEqual(
        plain(
          over([
            [5000, 1],
            [1000, 2],
          ]),
        ),
        [{ at: 1000, waiting: 2 }],
      )
    })

    it('as a line of steps from the right edge, which a pause interrupts', () => {
      assert.equal(sparkPath([]), '')
      const samples = over([
        [0, 0],
        [3000, 4],
        [30_000, 2],
        [33_000, 2],
      ])
      assert.equal(sparkPath(samples), 'M90.0 27.0H100.0V1.0M190.0 14.0H200.0V14.0')
      assert.equal(sparkLabel(samples), 'at most 4 in the last minute')
      assert.equal(sparkLabel(remember(samples, 80_000, 1)), 'at most 4 in the last minute')
      assert.equal(sparkLabel(remember(samples, 160_000, 1)), 'at most 4 in the last 3 min')
    })
  })

  it('say how many deadlocks there were, and when the last one was', () => {
    const deadlockLine = inPage('deadlockLine')
    const time = new Date(1000).toLocaleTimeString()
    const line = (many, ago) =>
      deadlockLine(
        Array.from({ length: many }, () => ({ at: 1000 })),
        1000 + ago,
      )
    assert.equal(line(1, 59_999), `1 deadlock was refused, at ${time} (just now)`)
    const last = `2 deadlocks were refused, the last one at ${time}`
    assert.equal(line(2, 60_000), `${last} (1 min ago)`)
    assert.equal(line(2, 3_720_000), `${last} (1 h 2 min ago)`)
  })
})
