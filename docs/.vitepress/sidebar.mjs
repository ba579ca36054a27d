// The navigation of the site, from docs/README.md and the folders of docs/: a new page appears by itself.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { docs, placeOf } from './markdown.mjs'

const generated = /^(api|site|node_modules|\.vitepress)\//
const read = (name) => readFileSync(path.join(docs, name), 'utf8')

/** The documents, by their names in docs/, but those that only the site has. */
export function pages() {
  return readdirSync(docs, { recursive: true })
    .map((name) => name.replaceAll(path.sep, '/'))
    .filter((name) => name.endsWith('.md') && name !== 'README.md' && !generated.test(name))
    .sort()
}

/**
 * The groups of the sidebar: one for each section of docs/README.md that links to documents, in its order. A document
 * that no section links to is in the group of its folder.
 */
export function sidebar(names) {
  const groupOf = new Map()
  const add = (group, name) => {
    if (names.includes(name) && !groupOf.has(name)) groupOf.set(name, group)
  }
  for (const { title, links } of sections('README.md')) {
    for (const { page } of links) add(title, page)
  }
  for (const name of names) {
    const parent = parentOf(name, names)
    if (!groupOf.has(name) && !groupOf.has(parent))
      throw new Error(
        `docs/README.md links neither to docs/${name} nor to a document of its folder`,
      )
    for (const { page } of parent ? linksIn(read(parent), parent) : []) {
      if (parentOf(page, names) === parent) add(groupOf.get(parent), page)
    }
    add(groupOf.get(parent), name)
  }
  return [...new Set(groupOf.values())].map((text) => {
    const members = [...groupOf.keys()].filter((name) => groupOf.get(name) === text)
    const items = nested(members)
    return { text, collapsed: false, items: text === 'Reference' ? [api, ...items] : items }
  })
}

/** The reference that typedoc writes. */
const api = { text: 'The API', link: '/api/boxoffice/' }

/** The document that stands for the folder of another one: its README.md, or the document that has its name. */
function parentOf(name, names) {
  const folder = path.dirname(name)
  return [`${folder}/README.md`, `${folder}.md`].find((one) => one !== name && names.includes(one))
}

/** The documents of a folder below the one that stands for it. */
function nested(names) {
  const parents = names.filter((name) => parentOf(name, names) === undefined)
  const items = parents.map((parent) => {
    const children = names.filter((name) => parentOf(name, names) === parent).map(itemOf)
    return children.length === 0
      ? itemOf(parent)
      : { ...itemOf(parent), collapsed: true, items: children }
  })
  const [{ items: only, ...parent }] = items
  return items.length === 1 && only ? [parent, ...only] : items
}

/** The sections of a document: { title, links }. */
function sections(name) {
  const [, ...parts] = read(name).split(/^## /m)
  return parts.map((part) => ({
    title: part.slice(0, part.indexOf('\n')),
    links: linksIn(part, name),
  }))
}

/** The links to documents in a text of the document `name`: { text, page }, with the name of the page in docs/. */
function linksIn(text, name) {
  return [...text.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)/g)].map(([, title, link]) => ({
    text: title.replaceAll('\\', ''),
    page: path.posix.join(path.dirname(name), link),
  }))
}

function itemOf(name) {
  const [, title] = read(name).match(/^# (.*)$/m)
  return { text: title.replaceAll('`', ''), link: linkTo(name) }
}

const linkTo = (name) => `/${placeOf(name).replace(/(index)?\.md$/, '')}`

/** The bar at the top: the first page of each group. */
export const nav = (groups) => groups.map(({ text, items: [{ link }] }) => ({ text, link }))

/** The sidebar of the reference: its modules, and what each exports. */
export function reference() {
  const [{ links }] = sections('api/index.md')
  const modules = links.map((link, i) => ({ ...exportsOf(link), collapsed: i > 0 }))
  return [{ text: 'Modules', link: '/api/' }, ...modules]
}

function exportsOf({ text, page }) {
  const item = { text, link: linkTo(page) }
  if (!page.endsWith('/index.md')) return item
  const items = sections(page).map(({ title, links }) => ({
    text: title,
    collapsed: title !== 'Classes',
    items: links.map(exportsOf),
  }))
  return { ...item, collapsed: true, items }
}
