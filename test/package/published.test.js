'use strict'
// What the package says of itself on its page at npm, which shows the README and resolves its links against `repository`.
const assert = require('node:assert/strict')
const { statSync } = require('node:fs')
const path = require('node:path')
const manifest = require('../../package.json')
const { anchorsIn, linksIn, read } = require('../helpers/documents.js')
const { root } = require('../helpers/examples.js')

describe('the page of the package at npm', () => {
  it('has a homepage and a place for bugs in the repository that it names', () => {
    const { type, url } = manifest.repository
    const [, page] = url.match(/^git\+(https:\/\/github\.com\/[\w-]+\/boxoffice)\.git$/)
    assert.equal(type, 'git')
    assert.equal(manifest.homepage, `${page}#readme`)
    assert.equal(manifest.bugs, `${page}/issues`)
  })

  it('has only links that lead to files of the repository, to headings of the README or elsewhere by https', () => {
    const readme = read('README.md')
    // In other forms linksIn() does not see them.
    assert.doesNotMatch(readme, /<(a|img|source)\b|^\[[^\]]+\]:/im)
    assert.doesNotMatch(readme, /\]\(http:/)
    for (const link of linksIn(readme)) {
      const [file] = link.split('#', 1)
      if (file === '') assert.ok(anchorsIn(readme).includes(link.slice(1)), link)
      else {
        assert.doesNotMatch(file, /^(\/|\.|build|coverage|node_modules|prebuilds)/)
        assert.ok(statSync(path.join(root, file)).isFile(), `${link} is no file of the repository`)
      }
    }
  })
})
