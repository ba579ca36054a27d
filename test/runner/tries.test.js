'use strict'
// What test/run.js does with tests that fail.
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { runSuites } = require('./tries.js')

const runner = require.resolve('../run.js')

describe('A failing test', function () {
  this.timeout(60_000)
  let folder
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxoffice-tries-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  let count = 0
  /** Runs the tests of a fixture whose titles match; `tries` is how often each of them ran. */
  function runFixture(pattern, fixture = './fixtures/failing.js') {
    const file = path.join(folder, `tries${count++}`)
    const env = { ...process.env, FIXTURE_TRIES: file }
    const args = [runner, require.resolve(fixture), '--grep', pattern]
    const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    const tries = {}
    for (const name of readFileSync(file, 'utf8').trim().split('\n'))
      tries[name] = (tries[name] ?? 0) + 1
    const [last, before] = stdout.trim().split('\n').reverse()
    return { status, stdout, tries, last, before }
  }

  it('that passes at the second or third try is unsteady, and named with its first error', () => {
    const { status, stdout, tries, last, before } = runFixture('good|fails')
    assert.deepEqual(tries, { good: 1, 'fails once': 2, 'fails twice': 3, always: 3 })
    assert.match(stdout, /^unsteady: .*: fixture fails \(once\), passed at try 2\n {2}Assert/m)
    assert.match(stdout, /^unsteady: .*: fixture fails twice, passed at try 3\n {2}Assert/m)
    assert.match(stdout, /^failed: .*: fixture always fails\n {2}AssertionError.*: always, try 1/m)
    assert.deepEqual([status, before, last], [1, '2 unsteady', '3 passed, 1 failed'])
  })

  it('does not make a run red if it is unsteady', () => {
    const { status, before, last } = runFixture('good|once')
    assert.deepEqual([status, before, last], [0, '2 unsteady', '3 passed, 0 failed'])
  })

  it('that timed out says what is open, and is tried again', () => {
    const { status, tries, stdout } = runFixture('hangs')
    assert.deepEqual([status, tries], [0, { 'hangs once': 2 }])
    assert.match(stdout, /unsteady: .*hangs once, passed at try 2\n {2}Error: Timeout of 200ms/)
  })

  it('is not tried again if an oracle has seen a defect', () => {
    const { status, tries, last } = runFixture('two')
    assert.deepEqual([status, tries, last], [1, { oracle: 1 }, '0 passed, 1 failed'])
  })

  it('is not tried again if its process crashed', () => {
    const { status, tries, last } = runFixture('crashes')
    assert.deepEqual([status, tries, last], [1, { crash: 1 }, '0 passed, 1 failed'])
  })

  it('is not tried again if it had passed, because mocha runs no later test then', () => {
    const { status, tries, last } = runFixture('late|crashes')
    assert.deepEqual([status, tries, last], [1, { late: 1 }, '1 passed, 1 failed'])
  })

  it('in a hook is tried again with its file', () => {
    const { stdout, tries } = runFixture('hook', './fixtures/failing_hook.js')
    assert.deepEqual(tries, { hook: 2, test: 1 })
    assert.match(stdout, /^unsteady: .*"before all" hook.*, passed at try 2$/m)
  })

  it('is one that leaves a rejection unhandled, in each file of a parallel run', () => {
    const names = ['one', 'two', 'three']
    for (const name of names) {
      const body = "Promise.reject(new Error('lost')); await new Promise(setImmediate)"
      writeFileSync(path.join(folder, `${name}.js`), `it('${name}', async () => { ${body} })`)
    }
    const args = [runner, path.join(folder, '*.js'), '--parallel', '--jobs', '2']
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    for (const name of names)
      assert.match(stdout, new RegExp(`^failed: .*: ${name}\\n {2}Error: lost$`, 'm'))
  })

  it('that does not run says why, or makes the run red', () => {
    const good = runFixture('one|two|three', './fixtures/pending.js')
    assert.deepEqual([good.status, good.last], [0, '1 passed, 0 failed'])
    assert.match(good.stdout, /- two \(not run: it lacks a moon\)$/m)
    assert.match(good.stdout, /- three \(not run: it lacks a sun\)$/m)
    const bad = runFixture('one|four', './fixtures/pending.js')
    assert.deepEqual([bad.status, bad.last], [1, '1 passed, 1 failed'])
    assert.match(bad.stdout, /^failed: .*pending four\n {2}Error: It does not run, .* say why/m)
  })
})

describe('A run of tests', () => {
  const suite = (name, result) => ({ name, run: () => result })
  const failing = (name, error = 'late', isOracle = false) => ({
    name,
    error,
    isOracle,
    again: () => assert.fail('it is tried again'),
  })

  it('is red without a test', () => {
    const { failed } = runSuites([suite('empty', { passed: 0, failures: [] })])
    assert.deepEqual(failed, [{ name: 'empty', error: 'it ran no test' }])
  })

  it('tries nothing again of a process that crashed, or of a file that only has oracles', () => {
    const crashed = { passed: 5, failures: [failing('one')], broken: 'it was ended by SIGABRT' }
    const oracle = { passed: 1, failures: [failing('two', 'late', true)] }
    const { passed, failed } = runSuites([suite('crashed', crashed), suite('oracle', oracle)])
    assert.deepEqual([passed, failed.map(({ name }) => name)], [6, ['crashed', 'one', 'two']])
  })

  for (const error of [
    'Property failed after 3 tests',
    'WARNING: ThreadSanitizer: data race',
    'a.cpp:3: runtime error: signed integer overflow',
  ]) {
    it(`tries nothing again that failed by ${error.slice(0, 30)}`, () => {
      const { failed } = runSuites([
        suite('all', { passed: 1, failures: [failing('test', error)] }),
      ])
      assert.deepEqual(
        failed.map(({ name }) => name),
        ['test'],
      )
    })
  }
})
