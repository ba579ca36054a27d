'use strict'
// The pages in build/site, as npm run docs:site has built them.
const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const manifest = require('../../package.json')

const site = path.join(__dirname, '..', '..', 'build', 'site')

const files = readdirSync(site, { recursive: true }).map((name) => name.replaceAll(path.sep, '/'))
const pages = new Map(
  files
    .filter((name) => name.endsWith('.html') && name !== '404.html')
    .map((name) => [name, readFileSync(path.join(site, name), 'utf8')]),
)

/** The values of an attribute, of all elements that have it. */
function valuesOf(html, attribute) {
  const values = html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))
  return [...values].map(([, value]) => value.replaceAll('&amp;', '&'))
}

/** What a link of a page leads to: { link, name, anchor }, or undefined where it leaves the site. */
function targetOf(link, page) {
  const { host, pathname, hash } = new URL(link, `http://site/${page}`)
  if (host !== 'site') return undefined
  const name = decodeURIComponent(pathname.slice(1)).replace(/(^|\/)$/, '$1index.html')
  return { link, name, anchor: decodeURIComponent(hash.slice(1)) }
}

function targetsOf(html, page) {
  const links = [...valuesOf(html, 'href'), ...valuesOf(html, 'src')]
  return links.map((link) => targetOf(link, page)).filter((target) => target !== undefined)
}

describe('the site', () => {
  it('has a page for each document, and the reference of each module', () => {
    const docs = path.join(__dirname, '..', '..', 'docs')
    const documents = readdirSync(docs)
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .map((name) => name.replace(/md$/, 'html'))
    const modules = Object.keys(manifest.exports).filter((name) => name !== './package.json')
    const references = modules.map((name) => path.posix.join('api/boxoffice', name, 'index.html'))
    for (const name of ['index.html', ...documents, ...references]) assert.ok(pages.has(name), name)
  })

  it('has no link that leads to no page, no file or no heading', () => {
    const ids = new Map([...pages].map(([name, html]) => [name, new Set(valuesOf(html, 'id'))]))
    const broken = []
    for (const [page, html] of pages) {
      for (const { link, name, anchor } of targetsOf(html, page)) {
        const isThere = pages.has(name)
          ? anchor === '' || ids.get(name).has(anchor)
          : files.includes(name)
        if (!isThere) broken.push(`${page}: ${link}`)
      }
    }
    assert.deepEqual(broken, [])
  })

  it('has each page in the sidebar of that page', () => {
    const lost = [...pages].filter(([page, html]) => {
      const [, sidebar = ''] = html.match(/<aside class="VPSidebar"([\s\S]*?)<\/aside>/) ?? []
      return page !== 'index.html' && !targetsOf(sidebar, page).some(({ name }) => name === page)
    })
    assert.deepEqual(
      lost.map(([page]) => page),
      [],
    )
  })

  it('has a search that finds documents and the reference', () => {
    const [index] = files.filter((name) => /localSearchIndex/.test(name))
    const text = readFileSync(path.join(site, index), 'utf8')
    for (const page of ['which-lock', 'recipes/cron', 'api/boxoffice/classes/Mutex'])
      assert.ok(text.includes(`/${page}.html`), page)
  })
})
