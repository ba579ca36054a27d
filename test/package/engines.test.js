'use strict'
// npm warns of each package whose `engines` exclude the running Node.js (EBADENGINE). The oldest supported one is 20.
const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { satisfies } = require('semver')

const root = path.join(__dirname, '..', '..')
/** The first release of Node.js 20 that mocha runs on. */
const oldest = '20.19.0'

describe('the lock files', () => {
  for (const folder of ['.', 'docs', 'examples/ticket-shop']) {
    it(`of ${folder} name packages for Node.js ${oldest}`, () => {
      const text = readFileSync(path.join(root, folder, 'package-lock.json'), 'utf8')
      const packages = Object.entries(JSON.parse(text).packages)
      assert.ok(packages.length > 20)
      const isRefused = ([, { engines }]) =>
        engines?.node !== undefined && !satisfies(oldest, engines.node)
      const names = ([name, { version, engines }]) => `${name} ${version}: ${engines.node}`
      assert.deepEqual(packages.filter(isRefused).map(names), [])
    })
  }
})
