'use strict'
const assert = require('node:assert/strict')
// Helpers for the tests of keyed maps.

/** Distinct keys: no two of these are equal. */
const apart = [
  '1',
  1,
  1n,
  '1n',
  '',
  0,
  '0',
  0n,
  '-0',
  -1,
  -1n,
  1.5,
  Infinity,
  'Infinity',
  2 ** 53,
  2n ** 53n,
  2n ** 64n,
  'null',
  'undefined',
  'NaN',
  '__proto__',
  'a\0',
  'a',
]

/** Invalid keys: the name, the value, the error. */
const badKeys = [
  ['an object', {}, TypeError],
  ['a String object', new String('a'), TypeError],
  ['an object with a toString', { toString: () => 'a' }, TypeError],
  ['a symbol', Symbol('a'), TypeError],
  ['undefined', undefined, TypeError],
  ['null', null, TypeError],
  ['true', true, TypeError],
  ['a function', () => 'a', TypeError],
  ['NaN', NaN, RangeError],
]

/** Makes `count` other keys busy and idle again: idle keys are swept, and cores are reused. */
function churn(locks, count, name = 'churn') {
  for (let i = 0; i < count; i++) assert.ok(locks.tryLock(`${name} ${i}`))
  for (let i = 0; i < count; i++) locks.unlock(`${name} ${i}`)
}

function busyIn(locks) {
  return new Set(locks.keys())
}

/** The state of a promise, readable at any time. */
function outcome(promise) {
  const seen = { state: 'pending', value: undefined, reason: undefined }
  promise.then(
    (value) => Object.assign(seen, { state: 'fulfilled', value }),
    (reason) => Object.assign(seen, { state: 'rejected', reason }),
  )
  return seen
}

/** Resolves when all microtasks have run. */
function settled() {
  return new Promise((resolve) => setImmediate(resolve))
}

module.exports = { apart, badKeys, busyIn, churn, outcome, settled }
