'use strict'
// What test/runner/needs.js says that tests need: npm test must pass on a machine without servers.
const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { full, quick } = require('./needs.js')

const folder = path.join(__dirname, '..')
/** How tests start the servers of engines. */
const starts = /\b(redis|postgres|etcd|valkey)Server\b|\bpgbouncer\b/

/** The files of a pattern, which has one list in braces at most. */
function filesOf(pattern) {
  const [before, list, after = ''] = pattern.split(/[{}]/)
  if (list === undefined) return [pattern]
  return list.split(',').map((one) => before + one + after)
}

describe('The needs of tests', () => {
  it('have each file that starts a server', () => {
    const known = new Set([...quick, ...full].flatMap(([pattern]) => filesOf(pattern)))
    const files = readdirSync(folder, { recursive: true })
      .filter((file) => file.endsWith('.test.js') && file !== path.join('runner', 'needs.test.js'))
      .filter((file) => starts.test(readFileSync(path.join(folder, file), 'utf8')))
      .map((file) => path.posix.join('test', ...file.split(path.sep)))
    assert.ok(files.length > 20)
    const unknown = files.filter((file) => !known.has(file))
    assert.deepEqual(unknown, [])
  })
})
