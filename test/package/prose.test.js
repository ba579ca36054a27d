'use strict'
// Documents and declarations read easily: they name their subjects, and no page is long.
const assert = require('node:assert/strict')
const path = require('node:path')
const { documents, filesIn, read } = require('../helpers/documents.js')

const names = documents()
  .map(({ name }) => name)
  .filter((name) => name === 'README.md' || name.startsWith('docs'))
const declarations = filesIn('lib').filter((file) => file.endsWith('.d.ts'))

/** The prose of a document: without its blocks of code. */
const proseOf = (markdown) => markdown.replace(/^```[\s\S]*?^```$/gm, '')

/** Words that stand for a waiter, a thread, a process, a caller or a holder. */
const vague = /\b(?:nobody|somebody|whoever|everybody)\b|(?:^|[.!?:|*-]\s+)Who\b/gim

/** What a person looks things up in, and does not read from beginning to end. */
const isReference = (name) =>
  name === path.join('docs', 'errors.md') || path.dirname(name) === path.join('docs', 'performance')

describe('the prose', () => {
  it('names waiters, threads, processes, callers and holders', () => {
    const texts = ['index.d.ts', ...names, ...declarations].map(read)
    const found = texts.flatMap((text) => text.match(vague) ?? [])
    assert.ok(found.length <= 20, `${found.length} times: ${[...new Set(found)].join(', ')}`)
  })

  it('of a document takes five minutes to read, at 240 words a minute', () => {
    const guides = names.filter((name) => name.startsWith('docs') && !isReference(name))
    const long = guides.flatMap((name) => {
      const words = read(name).match(/[\p{L}\p{N}]\S*/gu).length
      return words > 5 * 240 ? [`${name}: ${words} words`] : []
    })
    assert.deepEqual(long, [])
  })

  it('of a decision fits on a page', () => {
    const decisions = names.filter((name) => path.dirname(name) === path.join('docs', 'decisions'))
    for (const name of decisions) {
      const words = proseOf(read(name)).match(/[\p{L}\p{N}]\S*/gu).length
      assert.ok(words <= 700, `${name}: ${words} words`)
    }
  })
})
