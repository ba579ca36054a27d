'use strict'
const assert = require('node:assert/strict')
const { makeInspector } = require('../../../lib/diagnostics/inspector/handler.js')
const {
  closeServers,
  lock,
  ring,
  serve,
  snapshotOf,
} = require('../../../test/helpers/inspected.js')
const { usePages } = require('./chromium.js')
const { closeShops, openShop, resolvers } = require('./helpers.js')

describe("the inspector's page, in Chromium", () => {
  let snapshot

  const { current, texts, shows } = usePages(
    async () => {
      await closeServers()
      await closeShops()
    },
    // Chromium reports violations of the page's policy here.
    (open) => open.page.on('console', (message) => open.problems.push(message.text())),
  )

  async function visit(given, path = '/locks') {
    snapshot = given
    const { url } = await serve(makeInspector(async () => snapshot))
    await current.page.goto(url + path)
    await shows('#link', 'live')
  }

  const keyOf = (n) => `#rows tbody.window tr:nth-child(${n}) td:nth-child(2)`
  const keys = () => texts('#rows tbody.window td:nth-child(2)')
  const many = (count) =>
    Array.from({ length: count }, (_, i) => lock({ key: i, hold: [count - i] }))
  /** Resolves when every due update has been drawn. */
  const drawn = () =>
    current.page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))),
    )

  it('shows each holder since when, and the queue, the most contended lock first', async () => {
    await visit(
      snapshotOf([
        lock({ key: 'ada', hold: [61_000] }),
        lock({
          kind: 'Semaphore',
          name: 'pool',
          hold: [5, 1500, 6],
          waiting: 1200,
          oldestWait: 70.4,
        }),
      ]),
    )
    await shows(keyOf(2), '"ada"')
    assert.deepEqual(await texts('#rows tbody.window td'), [
      ...['pool Semaphore', '', 'process', '3 × main thread', '1.5 s', '1,200', '70 ms'],
      ...['users KeyedMutex', '"ada"', 'process', 'main thread', '1 min 1 s', '', ''],
    ])
    assert.deepEqual(await texts('#sums dd'), [
      ...['2', '1,200', 'at most 1,200 in the last minute', '70 ms', '0'],
    ])
    assert.deepEqual(await texts('#pid'), ['5'])
  })

  it('stays live, until it is paused', async () => {
    await visit(snapshotOf([lock({ key: 'ada' })]), '/')
    await shows(keyOf(1), '"ada"')
    snapshot = snapshotOf([lock({ key: 'bob' })])
    await shows(keyOf(1), '"bob"')
    await current.page.click('#pause')
    await shows('#link', 'paused')
    // The filter is answered once, and no later request is sent.
    await current.page.evaluate(() => {
      const begin = window.setTimeout
      window.setTimeout = (...what) => {
        document.title = 'asks again'
        return begin(...what)
      }
    })
    await current.page.type('#filter', 'c')
    await shows('#rows-empty', 'Nothing matches the filter.')
    assert.equal(await current.page.title(), 'Locks')
    snapshot = snapshotOf([lock({ key: 'cy' })])
    await current.page.click('#pause')
    await shows(keyOf(1), '"cy"')
    snapshot = snapshotOf()
    await shows('#rows-empty', 'Nothing is held.')
    assert.deepEqual(await keys(), [])
    snapshot = { ...snapshot, threads: [0, 3, 4].map((id) => ({ id, answered: id === 0 })) }
    await shows('#threads', '3 threads, no answer from 3, 4')
  })

  it('reports that the process does not answer, and goes on when it does', async () => {
    await visit(snapshotOf())
    snapshot = null
    await current.page.waitForSelector('#link.lost')
    snapshot = snapshotOf([lock({ key: 'ada' })])
    await shows('#link', 'live')
    await shows(keyOf(1), '"ada"')
    // Chromium reports the answer 500.
    assert.ok(current.problems.length > 0)
    current.problems = []
  })

  it('filters, also by its address', async () => {
    await visit(snapshotOf([lock({ key: 'ada' }), lock({ key: 'bob' })]), '/locks/?filter=ADA')
    await shows('#shown', '1 found')
    await shows(keyOf(1), '"ada"')
    await current.page.$eval('#filter', (input) => Object.assign(input, { value: '' }))
    await current.page.type('#filter', 'users bo')
    await shows(keyOf(1), '"bob"')
    await current.page.type('#filter', 'x')
    await shows('#rows-empty', 'Nothing matches the filter.')
  })

  it('is live at an address with a user and a password, and sends them for its data', async () => {
    const inspect = makeInspector(async () => snapshotOf([lock({ key: 'ada' })]))
    const expected = `Basic ${Buffer.from('ops:pw').toString('base64')}`
    const { port } = await serve((request, response) => {
      if (request.headers.authorization === expected) return inspect(request, response)
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="locks"' }).end()
    })
    await current.page.goto(`http://ops:pw@127.0.0.1:${port}/locks`)
    await shows('#link', 'live')
    await shows(keyOf(1), '"ada"')
  })

  it('is linked by the shop, whose locks it shows', async () => {
    const shop = await openShop()
    const inside = resolvers()
    const holder = shop.lock.runExclusive('ada', () => inside.promise)
    await current.page.goto(shop.url)
    await current.page.click('a[href="/inspector"]')
    await shows(keyOf(1), '"ada"')
    assert.deepEqual(await texts('#rows tbody.window td:nth-child(4)'), ['main thread'])
    inside.resolve()
    await holder
    await shows('#rows-empty', 'Nothing is held.')
    assert.equal((await texts('#totals tbody.window td:nth-child(3)'))[0], '1')
  })

  it('shows names from untrusted users as text', async () => {
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    const deadlock = { ...ring(2, evil), message: evil }
    for (const { waitsFor, holds } of deadlock.cycle) {
      for (const one of [waitsFor, ...holds]) Object.assign(one, { name: evil, key: evil })
    }
    const held = lock({ name: evil, key: evil, scope: evil, kind: evil })
    Object.assign(held.holders[0], { stack: evil, mode: evil, thread: evil })
    await visit(snapshotOf([held], [deadlock]))
    await shows(keyOf(1), JSON.stringify(evil))
    await current.page.click(keyOf(1))
    await shows('#chosen pre', evil)
    await current.page.click('figure details details summary')
    assert.ok((await texts('details')).some((text) => text.includes(evil)))
    assert.equal(await current.page.title(), 'Locks')
    assert.deepEqual(await current.page.$$eval('img, #chosen script', (found) => found.length), 0)
  })

  it('shows the details of a row chosen by keys, which stays chosen', async () => {
    const locks = many(100)
    Object.assign(locks[1].holders[0], { stack: 'at work (here.js:1:1)', pid: 77 })
    await visit(snapshotOf(locks))
    await shows(keyOf(1), '0')
    await current.page.focus('#rows')
    const chosen = () =>
      current.page.$eval('#rows', (table) => {
        const row = document.getElementById(table.getAttribute('aria-activedescendant'))
        return (
          row && [row.cells[1].textContent, row.getAttribute('aria-selected'), row.ariaRowIndex]
        )
      })
    for (const key of ['ArrowDown', 'ArrowDown']) await current.page.keyboard.press(key)
    await shows('#chosen h3', 'KeyedMutex users, key 1')
    await shows('#chosen pre', 'at work (here.js:1:1)')
    await drawn()
    assert.deepEqual(await chosen(), ['1', 'true', '3'])
    assert.match((await texts('#chosen p')).join(), /held by process 77, main thread, since /)

    const more = { waiting: 5, oldestWait: 1 }
    snapshot = snapshotOf([...locks, lock({ key: 'hot', ...more })])
    await shows(keyOf(1), '"hot"')
    assert.deepEqual(await chosen(), ['1', 'true', '4'])
    Object.assign(locks[1], more)
    await shows('#chosen a + p', '1 holder, 5 waiting')
    await current.page.keyboard.press('End')
    await shows('#chosen h3', 'KeyedMutex users, key 99')
    await drawn()
    assert.deepEqual(await chosen(), ['99', 'true', '102'])
    await current.page.keyboard.press('Escape')
    await drawn()
    assert.equal(await chosen(), null)
  })

  it('draws wait times', async () => {
    const buckets = [
      0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9,
    ]
    const totals = {
      acquisitions: 1234,
      contended: 14,
      timeouts: 1,
      aborts: 2,
      abandoned: 3,
      deadlocks: 4,
    }
    const waits = { p50: 0.002, p90: 1.26, p99: 90_000, max: 3_700_000, buckets }
    await visit(snapshotOf([lock({ hold: [], totals, waits })]))
    await shows('#totals tbody.window td:nth-child(3)', '1,234')
    assert.deepEqual((await texts('#totals tbody.window td')).slice(2), [
      ...['1,234', '14', '1', '2', '3', '4', '2 µs', '1.3 ms', '1 min 30 s', '1 h 1 min', ''],
    ])
    const bars = await current.page.$eval('#totals svg path', (path) =>
      path.getAttribute('d').match(/M/g),
    )
    assert.equal(bars.length, 3)
  })

  it('draws deadlocks as rings', async () => {
    await visit(snapshotOf([], [ring(2), ring(5)]))
    await shows('#count', '2')
    assert.equal((await current.page.$$('figure svg')).length, 2)
    const drawnOf = (n) => texts(`figure:nth-child(${n}) svg g text:first-of-type`)
    const forks = (n) => Array.from({ length: n }, (_, i) => `${(i + 1) % n}n`)
    const chains = (n) => Array.from({ length: n }, (_, i) => `chain ${'ABCDE'[i]}`)
    for (const [i, n] of [5, 2].entries()) {
      const both = chains(n).flatMap((chain, j) => [chain, forks(n)[j]])
      assert.deepEqual(await drawnOf(i + 1), both)
      assert.equal((await current.page.$$(`figure:nth-child(${i + 1}) path.edge`)).length, 2 * n)
    }
    const label = await current.page.$eval('figure svg', (svg) => svg.getAttribute('aria-label'))
    assert.equal(label, 'a circle of 5')
    snapshot = snapshotOf()
    await shows('#count', '0')
    assert.equal(await current.page.$eval('#deadlocks', ({ hidden }) => hidden), true)
  })

  it('has a hint in the details until a row is chosen, and again afterwards', async () => {
    await visit(snapshotOf([lock({ key: 'ada' })]))
    await shows(keyOf(1), '"ada"')
    assert.deepEqual(await texts('#details-title'), ['Details'])
    assert.match((await texts('#chosen')).join(), /^Choose a row/)
    await current.page.click(keyOf(1))
    await shows('#chosen h3', 'KeyedMutex users, key "ada"')
    await current.page.focus('#rows')
    await current.page.keyboard.press('Escape')
    await current.page.waitForSelector('#chosen .empty')
    assert.match((await texts('#chosen')).join(), /^Choose a row/)
  })

  it('marks leaked and unusually long holds, and explains them in the details', async () => {
    const holds = { p50: 1, p90: 2, p99: 30, max: 30, buckets: [50] }
    const map = lock({ hold: [], holds })
    const leaked = lock({ key: 'leaked', hold: [1], map: map.id })
    leaked.holders[0].isLeaked = true
    const long = lock({ key: 'long', hold: [301], map: map.id })
    const usual = lock({ key: 'usual', hold: [299], waiting: 9, map: map.id })
    await visit(snapshotOf([map, usual, long, leaked]))
    await shows(keyOf(1), '"leaked"')
    assert.deepEqual(await keys(), ['"leaked"', '"long"', '"usual"'])
    const marks = await current.page.$$eval('#rows tbody.window td.held', (cells) =>
      cells.map((cell) => getComputedStyle(cell, '::before').content),
    )
    assert.deepEqual(marks, ['"leaked"', '"long"', 'none'])
    await current.page.click(keyOf(1))
    await shows('#chosen h3', 'KeyedMutex users, key "leaked"')
    assert.match((await texts('#chosen .bad')).join(), /^A Releaser was collected as garbage/)
    await current.page.click(keyOf(2))
    await shows('#chosen .bad', 'Held much longer than usual: p99 is 30 ms.')
  })

  it('folds older deadlocks away, and lets the reader dismiss each', async () => {
    const [first, second, third] = [2, 3, 4].map((n) => ring(n))
    const open = () =>
      current.page.$$eval('figure > details', (folds) => folds.map((fold) => fold.open))
    const labels = () =>
      current.page.$$eval('figure svg', (all) => all.map((svg) => svg.getAttribute('aria-label')))
    await visit(snapshotOf([], [first, second]))
    await current.page.waitForSelector('figure')
    assert.deepEqual(await labels(), ['a circle of 3', 'a circle of 2'])
    assert.deepEqual(await open(), [true, false])
    await current.page.click('figure:nth-child(2) summary')
    assert.deepEqual(await open(), [true, true])
    await current.page.click('figure:nth-child(1) > button')
    assert.deepEqual(await labels(), ['a circle of 2'])
    snapshot = snapshotOf([], [first, second, third])
    await shows('#count', '3')
    assert.deepEqual(await labels(), ['a circle of 4', 'a circle of 2'])
    assert.deepEqual(await open(), [true, false])
    await current.page.click('#dismiss')
    assert.equal(await current.page.$eval('#deadlocks', ({ hidden }) => hidden), true)
    snapshot = snapshotOf([lock({ key: 'later' })], [first, second, third])
    await shows(keyOf(1), '"later"')
    assert.deepEqual(await labels(), [])
  })

  it('has one line for old deadlocks, and unfolds a new one', async () => {
    const isOpen = () => current.page.$eval('#fold', (fold) => fold.open)
    const old = { ...ring(2), at: ring(2).at - 60_000 }
    const line = () => texts('#deadlocks-title')
    await visit(snapshotOf([], [old]))
    await shows('#count', '1')
    assert.match((await line()).join(), /^1 deadlock was refused, at .* \(1 min ago\)$/)
    assert.equal(await isOpen(), false)
    const height = await current.page.$eval('#deadlocks', (section) => section.offsetHeight)
    assert.ok(height < 60, `${height} px`)
    await current.page.click('#fold > summary')
    assert.ok(await current.page.$eval('figure svg', (svg) => svg.checkVisibility()))

    snapshot = snapshotOf([], [old, ring(3)])
    await shows('#count', '2')
    assert.equal(await isOpen(), true)
    assert.match((await line()).join(), /^2 deadlocks were refused, the last one .*\(just now\)$/)
    snapshot = { ...snapshot, at: snapshot.at + 60_000 }
    await current.page.waitForFunction(() => !document.getElementById('fold').open)
  })

  it('groups holders and waiters of one place, and says where an unnamed lock was made', async () => {
    const stack = 'at work (here.js:1:1)'
    const held = lock({ kind: 'Semaphore', hold: [9, 9, 9] })
    for (const holder of held.holders) holder.stack = stack
    Object.assign(held, { name: undefined, waiting: 1, waiters: [{ thread: 2, since: 0, stack }] })
    held.madeAt = '    at makePool (pool.js:7:1)'
    await visit(snapshotOf([held]))
    await shows('#rows tbody.window td', 'at pool.js:7 Semaphore')
    await current.page.click(keyOf(1))
    await shows('#chosen h3', 'Semaphore at pool.js:7')
    assert.deepEqual(await texts('#chosen h4'), [
      ...['3 holders, 1 waiter, same place', 'made here'],
    ])
    assert.deepEqual(await texts('#chosen pre'), [stack, 'at makePool (pool.js:7:1)'])
  })

  it('sorts by a click on a heading, and by the process again', async () => {
    await visit(snapshotOf([7, 30, 5].map((hold) => lock({ key: `user ${hold}`, hold: [hold] }))))
    await shows(keyOf(1), '"user 30"')
    const sorts = () =>
      current.page.$$eval('#rows th', (heads) =>
        heads.map((head) => head.ariaSort).filter((sort) => sort !== 'none'),
      )
    const click = async (n) => {
      await current.page.click(`#rows th:nth-child(${n}) button`)
      await drawn()
      return [await sorts(), (await keys()).map((key) => Number(key.match(/\d+/)[0]))]
    }
    assert.deepEqual(await click(2), [['ascending'], [5, 7, 30]])
    assert.deepEqual(await click(2), [['descending'], [30, 7, 5]])
    assert.deepEqual(await click(5), [['descending'], [30, 7, 5]])
    assert.deepEqual(await click(5), [['ascending'], [5, 7, 30]])
    // New data is sorted alike.
    snapshot = snapshotOf([3, 40].map((hold) => lock({ key: hold, hold: [hold] })))
    await shows(keyOf(2), '40')
    assert.deepEqual(await click(5), [[], [40, 3]])
    await current.page.focus('#rows th:nth-child(5) button')
    await current.page.keyboard.press('Enter')
    assert.deepEqual(await sorts(), ['descending'])
  })

  it('has an address for each row, which it opens with the row in view', async () => {
    await visit(snapshotOf(many(10_000)), '/locks?top=9999')
    await shows(keyOf(1), '0')
    await current.page.click(keyOf(3))
    await shows('#chosen h3', 'KeyedMutex users, key 2')
    const href = await current.page.$eval('#chosen a', (link) => link.href)
    assert.equal(href, current.page.url())
    const { id } = snapshot.locks[9000]
    await current.page.goto('about:blank')
    await current.page.goto(href.replace(/#.*/, `#${new URLSearchParams({ row: id })}`))
    await shows('#chosen h3', 'KeyedMutex users, key 9000')
    await drawn()
    const isInView = await current.page.$eval('tr[aria-selected="true"]', (row) => {
      const { top, bottom } = row.getBoundingClientRect()
      const seen = row.closest('.scroller').getBoundingClientRect()
      return top >= seen.top && bottom <= seen.bottom
    })
    assert.ok(isInView)
    snapshot = snapshotOf([lock({ key: 'ada' })])
    await shows('#chosen p', `Neither held nor waited for: ${id}`)
    await current.page.focus('#rows')
    await current.page.keyboard.press('Escape')
    await current.page.waitForFunction(() => location.hash === '')
    await current.page.type('#filter', 'a b')
    await shows('#rows-empty', 'Nothing matches the filter.')
    // puppeteer's url() hears of an address later than the page.
    await current.page.waitForFunction(() => location.search === '?top=9999&filter=a+b')
  })

  it('draws how many have waited, anew for each filter', async () => {
    await visit(snapshotOf([lock({ key: 'ada', waiting: 3 })]))
    const line = () => current.page.$eval('#spark path', (path) => path.getAttribute('d'))
    snapshot = { ...snapshotOf([lock({ key: 'ada', waiting: 5 })]), at: snapshot.at + 1000 }
    await shows('#spark-label', 'at most 5 in the last minute')
    assert.match(await line(), /^M[\d.]+ 11\.4H200\.0V1\.0$/)
    await current.page.type('#filter', 'z')
    await shows('#spark-label', 'at most 0 in the last minute')
    assert.equal(await line(), 'M200.0 27.0')
  })

  for (const [device, width, columns] of [
    ['a desktop', 1280, ['Lock', 'Key', 'Scope', 'Held by', 'Held for', 'Waiting', 'Oldest wait']],
    ['a phone', 375, ['Lock', 'Key', 'Held for', 'Waiting']],
  ]) {
    it(`has no cut head and no sideways scrolling on ${device}`, async () => {
      await current.page.setViewport({ width, height: 844 })
      const locks = [...many(100), lock({ key: 'k'.repeat(200), name: 'n'.repeat(200) })]
      const totals = { acquisitions: 1234567, contended: 1, timeouts: 0, aborts: 0 }
      Object.assign(totals, { abandoned: 0, deadlocks: 0 })
      const waits = { p50: 1, p90: 2, p99: 30, max: 90_000, buckets: [1] }
      locks.push(lock({ hold: [], totals, waits }))
      await visit(snapshotOf(locks, [ring(2), ring(9)]))
      await shows('#busy', '101')
      await drawn()
      const seen = await current.page.evaluate(() => {
        const heads = [...document.querySelectorAll('th')].filter((head) => head.offsetWidth > 0)
        return {
          cut: heads
            .filter((head) => head.scrollWidth > head.clientWidth)
            .map((h) => h.textContent),
          widths: heads
            .filter((head) => head.closest('#rows'))
            .map((head) => [head.textContent, head.offsetWidth])
            .sort(([, a], [, b]) => b - a),
          columns: heads.filter((head) => head.closest('#rows')).map((head) => head.textContent),
          page: document.documentElement.scrollWidth,
          table: document.getElementById('rows').scrollWidth,
          room: document.getElementById('rows-scroller').clientWidth,
        }
      })
      assert.deepEqual(seen.cut, [])
      assert.deepEqual(seen.columns, columns)
      assert.equal(seen.widths[0][0], 'Key')
      assert.ok(seen.widths[0][1] > 180, `${seen.widths}`)
      const cut = await current.page.$$eval('#rows tbody.window td.key, td.lock, td.by', (cells) =>
        cells
          .filter((cell) => cell.scrollWidth > cell.clientWidth && cell.title !== cell.textContent)
          .map(({ textContent }) => textContent),
      )
      assert.deepEqual(cut, [])
      assert.ok(seen.page <= width, `the page is ${seen.page} px wide`)
      assert.ok(seen.table <= seen.room, `${seen.table} px in ${seen.room}`)
    })
  }

  it('has as many rows as are visible, and shows each of ten thousand when scrolled to', async () => {
    await visit(snapshotOf(many(10_000)))
    await shows('#busy', '10,000')
    const frames = await current.page.evaluate(async () => {
      const scroller = document.getElementById('rows-scroller')
      const next = () => new Promise(requestAnimationFrame)
      let [last, most] = [await next(), 0]
      const deltas = []
      for (let i = 0; i < 90; i++) {
        scroller.scrollTop = (i * 4001) % scroller.scrollHeight
        const now = await next()
        deltas.push(now - last)
        last = now
        most = Math.max(most, document.querySelectorAll('tr').length)
      }
      deltas.sort((a, b) => a - b)
      return { p50: deltas[45], max: deltas.at(-1), most, height: scroller.scrollHeight }
    })
    assert.ok(frames.most < 60, `${frames.most} rows`)
    assert.ok(frames.height > 10_000 * 30)
    assert.ok(frames.p50 < 200, `a frame takes ${frames.p50} ms`)
    for (const at of [9_990, 5_000, 0]) {
      await current.page.$eval(
        '#rows-scroller',
        (scroller, top) => Object.assign(scroller, { scrollTop: top }),
        at * 30,
      )
      await current.page.waitForFunction(
        (key) =>
          [...document.querySelectorAll('#rows tbody.window tr')].some((row) => {
            const { top, bottom } = row.getBoundingClientRect()
            const seen = row.closest('.scroller').getBoundingClientRect()
            return row.cells[1].textContent === key && top >= seen.top && bottom <= seen.bottom
          }),
        {},
        String(at + 2),
      )
    }
  })
})
