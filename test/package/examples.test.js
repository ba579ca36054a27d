'use strict'
// The examples of the declarations run, each in a process of its own.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { filesIn, read } = require('../helpers/documents.js')
const { blocksIn, examplesIn, good, lackOf, runExample } = require('../helpers/examples.js')
const { withReason } = require('../helpers/skip.js')

/** Without the examples that documentation_servers.test.js runs. */
const files = filesIn('lib').filter(
  (file) => file.endsWith('.d.ts') && !/cluster\/(engine|etcd\/|postgres\/|redis\/)/.test(file),
)
const examples = ['index.d.ts', ...files].flatMap((file) =>
  examplesIn(read(file)).map((example) => ({ ...example, title: `${file}, ${example.title}` })),
)
const isClass = (value) => /^class\b/.test(Function.prototype.toString.call(value))

describe('the examples of the declarations', function () {
  this.timeout(30_000)

  for (const [name, value] of Object.entries(boxoffice)) {
    if (typeof value !== 'function' || !isClass(value)) continue
    it(`exist for ${name}`, () => assert.ok(examples.some(({ owner }) => owner === name)))
  }

  for (const { title, codes } of examples) {
    const reason = codes.map(lackOf).find(Boolean)
    if (reason !== undefined) it.skip(withReason(`run: ${title}`, reason))
    else it(`run: ${title}`, async () => assert.deepEqual(await runExample(codes), good))
  }
})

describe('the check of examples', () => {
  const declarations = `
/**
 * A class.
 *
 * @example
 * const one = 1
 *
 * @example A title
 * one + 1
 *
 * @see nothing
 */
export class First {
  /**
   * A method.
   *
   * @example
   * {
   *   two()
   * }
   */
  method(): void
  /** @example is no block */
}

/** No block either. */
export interface Second {}
`

  it('finds them, and their owners', () => {
    assert.deepEqual(examplesIn(declarations), [
      { owner: 'First', title: 'First, line 2, example 1', codes: ['const one = 1'] },
      { owner: 'First', title: 'First, line 2, example 2', codes: ['const one = 1', 'one + 1'] },
      { owner: 'First', title: 'First, line 14, example 1', codes: ['{\n  two()\n}'] },
    ])
    assert.deepEqual(blocksIn('```sh\nls\n```\n\n```js\na()\nb()\n```\ntext\n'), ['a()\nb()\n'])
    assert.deepEqual(blocksIn('```js\n// Not run here: it never ends.\nfor (;;);\n```\n'), [])
  })

  const bad = {
    'an example that throws': "throw new Error('broken')",
    'an example that rejects later': "Promise.reject(new Error('broken'))",
    'a failing assertion': 'assert.equal(1, 2)',
    'text that is not JavaScript': 'The holder lets go:',
    'an undefined name': 'new Missing()',
    'a wait that never ends': 'await new Promise(() => {})',
    'a handler that admits two clicks': `app.post('/tickets', async ({ user }, response) => {
      response.json((await findOrder(user)) ?? (await createOrder(user)))
    })`,
    'a handler that never answers': `app.post('/tickets', async ({ user }) => findOrder(user))`,
  }
  for (const [name, code] of Object.entries(bad)) {
    it(`rejects ${name}`, async () => assert.notDeepEqual(await runExample([code]), good))
  }

  it('rejects an example that never ends', async () => {
    assert.equal((await runExample(['for (;;);'], { timeout: 1000 })).signal, 'SIGKILL')
  })

  it('lets an example use the declarations of one before it, or declare them anew', async () => {
    const codes = ['const one = 1', 'assert.equal(one, 1)', 'const one = 2; assert.equal(one, 2)']
    assert.deepEqual(await runExample(codes), good)
  })
  it('lets an example import names and the default export of a module', async () => {
    const codes = [
      "import { Mutex as Lock } from 'boxoffice'\nimport strict from 'node:assert/strict'",
      'strict.equal(Lock, Mutex)',
    ]
    assert.deepEqual(await runExample(codes), good)
    const missing = ["import { Missing } from 'boxoffice'\nnew Missing()"]
    assert.notDeepEqual(await runExample(missing), good)
  })

  it('ends a process with open handles only when told to, and reports failures', async () => {
    const open = 'setInterval(() => {}, 1000)'
    assert.equal((await runExample([open], { timeout: 1000 })).signal, 'SIGKILL')
    assert.deepEqual(await runExample([open], { exits: true }), good)
    const late = [open, "Promise.reject(new Error('broken'))"]
    assert.notDeepEqual(await runExample(late, { exits: true }), good)
  })
})
