import { readFileSync } from 'node:fs'
import path from 'node:path'
import { diagrams, repositoryPage, rewrites, root, siteLinks, slugify } from './markdown.mjs'
import { nav, pages, reference, sidebar } from './sidebar.mjs'

const { description } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#3451b2" d="M1 3h14v3a2 2 0 0 0 0 4v3H1v-3a2 2 0 0 0 0-4z"/></svg>'
const groups = sidebar(pages())

export default {
  title: 'boxoffice',
  description,
  lang: 'en',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  outDir: path.join(root, 'build/site'),
  cacheDir: path.join(root, 'build/site-cache'),
  srcExclude: ['README.md', 'node_modules'],
  rewrites,
  markdown: {
    anchor: { slugify },
    config(md) {
      md.use(siteLinks)
      md.use(diagrams)
    },
  },
  vite: { build: { chunkSizeWarningLimit: 4000 } }, // in kB: the index for the search
  themeConfig: {
    nav: nav(groups),
    sidebar: { '/api/': reference(), '/': groups },
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repositoryPage }],
  },
}
