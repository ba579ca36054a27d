'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const puppeteer = require('puppeteer-core')

function findChromium() {
  for (const directory of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const file = path.join(directory, name)
      if (fs.existsSync(file)) return file
    }
  }
  throw new Error(
    'The pages are tested in Chromium, which is not on the PATH: apt-get install chromium',
  )
}

function openChromium() {
  // The sandbox does not work for root, which containers use; the pages are the shop's own.
  return puppeteer.launch({ executablePath: findChromium(), args: ['--no-sandbox'] })
}

/**
 * For the suite around it: `current.page`, a new page for each test, which is closed before `close`
 * is called. An entry in `current.problems` then fails the test: the errors of the page, and
 * entries that `watch(current)` adds.
 */
function usePages(close, watch = () => {}) {
  const current = { page: undefined, problems: [] }
  let browser

  before(async () => {
    browser = await openChromium()
  })
  after(() => browser?.close())

  beforeEach(async () => {
    current.problems = []
    current.page = await browser.newPage()
    current.page.on('pageerror', (error) => current.problems.push(error))
    watch(current)
  })
  afterEach(async () => {
    await current.page?.close()
    await close()
    assert.deepEqual(current.problems, [])
  })

  return {
    current,
    texts: (selector) =>
      current.page.$$eval(selector, (found) => found.map(({ textContent }) => textContent)),
    shows: (selector, text) =>
      current.page.waitForFunction(
        (where, what) => document.querySelector(where)?.textContent === what,
        {},
        ...[selector, text],
      ),
  }
}

module.exports = { usePages }
