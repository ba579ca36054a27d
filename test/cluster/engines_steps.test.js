'use strict'
// The cost of each operation over an engine in executed blocks of code: it does not grow with the leases of this thread.
const assert = require('node:assert/strict')
const { run } = require('../helpers/processes.js')

const names = [
  'a lease that is taken and given back beside held ones',
  'a hand-off beside held leases',
  'a reader with maxHold beside readers',
  'a call with maxPending beside callers that wait for the server',
  'a call that gives up beside callers that wait for the server',
  'a call that times out beside callers that wait for the server',
]

describe('Over an engine, the number of steps does not grow', () => {
  let steps
  before(async () => {
    const { code, shown, stderr } = await run([require.resolve('./helpers/steps_run.js')])
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
