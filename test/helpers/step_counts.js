'use strict'
// Tests of the number of steps: a script counts the executed blocks of code of each operation, beside few and beside many.
const assert = require('node:assert/strict')
const { run } = require('./processes.js')

/** More than a heap adds for 32 times as many, and far less than one step for each of them. */
const allowance = 30

/** `names` are those of the operations, in the order of `script`, which shows [steps beside few, steps beside many]. */
function itDoesNotGrow(script, names) {
  let steps
  before(async () => {
    const { code, shown, stderr } = await run([script])
    assert.equal(code, 0, stderr)
    ;[steps] = shown
    assert.deepEqual(Object.keys(steps), names)
  })

  for (const name of names) {
    it(`of ${name}`, () => {
      const [base, most] = steps[name]
      assert.ok(
        base > 0 && most <= base + allowance,
        `${base} steps beside few, ${most} beside many`,
      )
    })
  }
}

module.exports = { itDoesNotGrow }
