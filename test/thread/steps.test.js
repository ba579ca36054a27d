'use strict'
// The cost of each operation in executed blocks of code: it does not grow with the waiters, keys, holders or watchers
// that it does not serve.
const assert = require('node:assert/strict')
const { run } = require('../helpers/processes.js')

const names = [
  'notifyOne() beside waiters',
  'the release of a key after onIdle(), beside held keys',
  'the release of a key after close(), beside held keys',
  'a key that comes and goes after onIdle(), beside held keys',
  'the release of a semaphore beside heavier callers of waitForUnlock()',
  'a hand-off of a semaphore beside callers of waitForUnlock() without a priority',
  'units that come back without a Releaser, beside holders',
  "a hand-off of a mutex with fairness: 'fifo', beside waiters",
  'a read-write lock that is tried beside waiters',
]

describe('The number of steps does not grow', () => {
  let steps
  before(async () => {
    const { code, shown, stderr } = await run([require.resolve('../helpers/steps_run.js')])
    assert.equal(code, 0, stderr)
    ;[steps] = shown
    assert.deepEqual(Object.keys(steps), names)
  })

  for (const name of names) {
    it(`of ${name}`, () => {
      const [base, most] = steps[name]
      assert.ok(base > 0 && most <= base + 10, `${base} steps beside few, ${most} beside many`)
    })
  }
})
