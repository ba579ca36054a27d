'use strict'
// The folders of examples/ that need no server print the output in their READMEs.
// examples_servers.test.js runs the others.
const assert = require('node:assert/strict')
const path = require('node:path')
const { checkOutput, examples, startFolder, withCopy } = require('../helpers/example_folders.js')
const { anchorsIn, isThere, linksIn, read } = require('../helpers/documents.js')

const withServers = ['postgres', 'redis']
const shown = examples.filter((name) => name !== 'ticket-shop')

describe('the examples', function () {
  this.timeout(60_000)

  for (const name of shown) {
    if (withServers.includes(name) || name === 'inspector') continue
    it(`print what the README says: ${name}`, () => checkOutput(name))
  }

  it('serve the page of the inspector: inspector', async () => {
    const { line, stop } = await startFolder('inspector', { PORT: '0' })
    try {
      const response = await fetch(line)
      assert.equal(response.status, 200)
      assert.match(await response.text(), /<title>Locks<\/title>/)
    } finally {
      await stop()
    }
    assert.match(line, /^http:\/\/127\.0\.0\.1:\d+\/locks$/)
  })

  it('run in another folder, beside the package installed there', () =>
    withCopy('mutex-per-user', [], (folder) => checkOutput('mutex-per-user', {}, folder)))

  it('are all in examples/README.md, and link to what is there', () => {
    const listed = linksIn(read('examples/README.md')).map((link) => path.dirname(link))
    assert.deepEqual(listed.toSorted(), examples)
    for (const name of examples) {
      for (const link of linksIn(read(`examples/${name}/README.md`))) {
        const [file, anchor] = link.split('#')
        const target = path.join('examples', name, file)
        assert.ok(isThere(target), `${link} of ${name} is not there`)
        if (anchor !== undefined) assert.ok(anchorsIn(read(target)).includes(anchor), link)
      }
    }
  })
})
