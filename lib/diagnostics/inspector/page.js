'use strict'
// The page: one document with inline style and scripts. Its Content-Security-Policy allows only these, by their
// digests: no injected code, and no resources of another origin.
const { createHash } = require('node:crypto')
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { checkFile } = require('../../addon/bundle_advice.js')

const read = (name) => readFileSync(checkFile(path.join(__dirname, 'page', name)), 'utf8')
const digest = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const style = ['style.css', 'table.css', 'narrow.css'].map(read).join('')
const scripts = [
  ...['text.js', 'sort.js', 'table.js', 'address.js', 'places.js', 'details.js'],
  ...['history.js', 'plots.js', 'graph.js', 'deadlocks.js', 'main.js'],
].map(read)

const page = read('index.html')
  .replace('<!-- style -->', () => `<style>${style}</style>`)
  .replace('<!-- scripts -->', () => scripts.map((code) => `<script>${code}</script>`).join('\n'))

const policy = [
  "default-src 'none'",
  `script-src ${scripts.map(digest).join(' ')}`,
  `style-src ${digest(style)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // With this, text cannot become elements, not even by a mistake in the scripts.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

module.exports = { page, policy }
