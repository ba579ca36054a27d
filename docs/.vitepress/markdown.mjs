// How the documents, which are written for GitHub, become pages of the site.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const docs = path.join(import.meta.dirname, '..')
export const root = path.join(docs, '..')

const { repository } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
export const repositoryPage = repository.url.replace(/^git\+|\.git$/g, '')

/** The pages whose place on the site is another than their place in docs/. */
export const rewrites = { 'site/index.md': 'index.md', ':folder/README.md': ':folder/index.md' }

/** The declarations whose page is in the reference. */
const declarations = 'index.d.ts'

/** The anchor of a heading, as GitHub makes it. */
export function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Where a link of the document `file` leads on the site: to a page, or to the repository. */
export function siteLink(href, file) {
  if (/^([a-z]+:|[/#])/i.test(href)) return href
  const [target, anchor] = href.split('#')
  const hash = anchor === undefined ? '' : `#${anchor}`
  const absolute = path.resolve(path.dirname(file), target)
  const name = path.relative(root, absolute)
  if (name === declarations) return `/api/boxoffice/index.md${hash}`
  const page = path.relative(docs, absolute)
  if (page.endsWith('.md') && !page.startsWith('..')) return `/${placeOf(page)}${hash}`
  if (!existsSync(absolute)) throw new Error(`${file} links to ${href}, which is not there`)
  return `${repositoryPage}/blob/HEAD/${name}${hash}`
}

/** The place of a document of docs/ on the site, which has its first page in place of docs/README.md. */
export function placeOf(page) {
  return page.replace(/(^|\/)README\.md$/, '$1index.md')
}

export function siteLinks(md) {
  md.core.ruler.push('site_links', ({ tokens, env }) => {
    const links = tokens.flatMap(({ children }) => children ?? [])
    for (const link of links.filter(({ type }) => type === 'link_open')) {
      link.attrSet('href', siteLink(link.attrGet('href'), env.realPath ?? env.path))
    }
  })
}

/** Blocks of mermaid become diagrams, which theme/diagram.js draws. */
export function diagrams(md) {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, index, ...others) => {
    const { info, content } = tokens[index]
    if (info !== 'mermaid') return fence(tokens, index, ...others)
    return `<SiteDiagram code="${encodeURIComponent(content)}" />`
  }
}
