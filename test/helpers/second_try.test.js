'use strict'
// The effect of second_try.js on tests of a process that this one stops.
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')

/** How a test of the fixture ended, and its output. */
async function runFixture(title) {
  const mocha = require.resolve('mocha/bin/mocha.js')
  const args = [require.resolve('./second_try_fixture.js'), '--fgrep', `fixture ${title}`]
  const child = fork(mocha, args, { silent: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  child.on('message', async () => {
    child.kill('SIGSTOP')
    await sleep(100)
    child.kill('SIGCONT')
    child.send('go on')
  })
  const [code] = await once(child, 'close')
  const count = (text) => output.split(text).length - 1
  return {
    code,
    output,
    tries: count('[before]'),
    ends: count('[after]'),
    said: count('One more try'),
  }
}

/** The same if the machine did not stop that process, too. */
async function runUndisturbed(title) {
  for (;;) {
    const run = await runFixture(title)
    if (run.said === 0) return run
  }
}

describe('A test that fails', function () {
  this.timeout(60_000)

  for (const title of ['async', 'with a callback', 'synchronous']) {
    it(`is repeated once, hooks included, if its process stalled: ${title}`, async () => {
      const { code, output, tries, ends, said } = await runFixture(title)
      assert.deepEqual([code, tries, ends, said], [0, 2, 2, 1], output)
      const line =
        /One more try, as the process stood still for \d+ ms: fixture .*\nError: of the first try\n/
      assert.match(output, line)
    })
  }

  it('is not repeated twice', async () => {
    const { code, output, tries, ends, said } = await runFixture('always')
    assert.deepEqual([code, tries, ends, said], [1, 2, 2, 1], output)
  })

  it('is not repeated if it was skipped', async () => {
    const { code, output, tries, said } = await runFixture('skipped')
    assert.deepEqual([code, tries, said], [0, 1, 0], output)
  })

  it('is not repeated if its process ran', async () => {
    const { code, output, tries, ends } = await runUndisturbed('running')
    assert.deepEqual([code, tries, ends], [1, 1, 1], output)
  })

  it('is not repeated if it blocked its own event loop', async () => {
    const { code, output, tries, ends } = await runUndisturbed('blocked by itself')
    assert.deepEqual([code, tries, ends], [1, 1, 1], output)
  })

  it('is not repeated if mocha timed it out', async () => {
    const { code, output, tries, ends, said } = await runFixture('too long')
    assert.deepEqual([code, tries, ends, said], [1, 1, 1, 0], output)
  })
})
