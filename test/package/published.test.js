'use strict'
// The package's page at npm, which shows the README and resolves its links against `repository`.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { statSync } = require('node:fs')
const path = require('node:path')
const manifest = require('../../package.json')
const { anchorsIn, linksIn, read, repositoryLinksIn } = require('../helpers/documents.js')
const { root } = require('../helpers/examples.js')

describe('the page of the package at npm', () => {
  it('has a homepage and a bug tracker in the repository that it names', () => {
    const { type, url } = manifest.repository
    const [, page] = url.match(/^git\+(https:\/\/github\.com\/[\w-]+\/boxoffice)\.git$/)
    assert.equal(type, 'git')
    assert.equal(manifest.homepage, `${page}#readme`)
    assert.equal(manifest.bugs, `${page}/issues`)
  })

  it('has only links to files of the repository, to headings of the README, or to https addresses', () => {
    const readme = read('README.md')
    // linksIn() would miss other forms.
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

describe('the documents in the package', () => {
  it('link to files of the package, or to the repository by its address', () => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']
    const [packed] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' }))
    const files = packed.files.map(({ path: name }) => name)
    assert.ok(files.includes('docs/README.md'))
    for (const name of files.filter((file) => file.endsWith('.md'))) {
      const text = read(name)
      for (const link of linksIn(text)) {
        const [file] = link.split('#', 1)
        const target = path.posix.join(path.posix.dirname(name), file)
        const isPacked = files.some((one) => one === target || one.startsWith(`${target}/`))
        assert.ok(file === '' || isPacked, `${link} of ${name} is not in the package`)
      }
      repositoryLinksIn(text)
    }
  })
})
