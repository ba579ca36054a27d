'use strict'
// What test/runner/needs.js says that tests need: npm test must pass on a machine without servers.
const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { full, quick } = require('./needs.js')

const folder = path.join(__dirname, '..')
/** How tests, or their helpers, start the servers of engines. */
const starts = /\b(redis|postgres|etcd|valkey)Server\b|\bpgbouncer\b/
/** These use helpers that could start servers, and start none. */
const without = ['test/cluster/engines_absent.test.js', 'test/cluster/guarantees.test.js']

/** Whether `file`, or a helper that it requires, starts a server. */
function mayStart(file) {
  const text = readFileSync(file, 'utf8')
  if (starts.test(text)) return true
  return [...text.matchAll(/require\('(\.[^']*\.js)'\)/g)]
    .map(([, required]) => path.resolve(path.dirname(file), required))
    .filter((required) => required.includes(`${path.sep}helpers${path.sep}`))
    .some(mayStart)
}

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
      .filter((file) => mayStart(path.join(folder, file)))
      .map((file) => path.posix.join('test', ...file.split(path.sep)))
    assert.ok(files.length > 20)
    const unknown = files.filter((file) => !known.has(file) && !without.includes(file))
    assert.deepEqual(unknown, [])
  })
})
