'use strict'
// node:assert/strict for tests in a browser, as far as they use it.

const fail = (message) => {
  throw message instanceof Error ? message : new Error(message)
}

function ok(value, message = `${value} is not true`) {
  if (!value) fail(message)
}

const shown = (value) => {
  const text = (_, one) =>
    typeof one === 'bigint' ? `${one}n` : one === undefined ? 'undefined' : one
  return value instanceof Error ? String(value) : JSON.stringify(value, text)
}

function isEqual(one, other) {
  if (Object.is(one, other)) return true
  if (!(one instanceof Object && other instanceof Object)) return false
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  if (one instanceof Error && one.message !== other.message) return false
  if (typeof one === 'function') return false
  if (one instanceof Map || one instanceof Set) return isEqual([...one], [...other])
  const keys = Reflect.ownKeys(one).filter((key) => key !== 'stack')
  const others = Reflect.ownKeys(other).filter((key) => key !== 'stack')
  return keys.length === others.length && keys.every((key) => isEqual(one[key], other[key]))
}

function deepEqual(actual, expected, message = `${shown(actual)}, not ${shown(expected)}`) {
  ok(isEqual(actual, expected), message)
}

/** Whether `error` is as `expected` says: a class, a RegExp, a function or an object with some of its properties. */
function checkError(error, expected) {
  if (expected === undefined) return
  if (expected instanceof RegExp) ok(expected.test(String(error)), String(error))
  else if (typeof expected !== 'function') {
    for (const [name, value] of Object.entries(expected)) {
      if (value instanceof RegExp) ok(value.test(error[name]), `${name}: ${error[name]}`)
      else deepEqual(error[name], value)
    }
  } else if (expected.prototype !== undefined && error instanceof expected) return
  else if (expected === Error || expected.prototype instanceof Error) fail(error)
  else ok(expected(error) === true, error)
}

function throws(call, expected) {
  let error
  try {
    call()
  } catch (thrown) {
    error = { thrown }
  }
  ok(error !== undefined, 'nothing has been thrown')
  checkError(error.thrown, expected)
}

async function rejects(given, expected) {
  const promise = typeof given === 'function' ? given() : given
  const outcome = await promise.then(
    () => undefined,
    (thrown) => ({ thrown }),
  )
  ok(outcome !== undefined, 'nothing has been rejected')
  checkError(outcome.thrown, expected)
}

module.exports = Object.assign(ok, {
  deepEqual,
  doesNotMatch: (text, pattern) => ok(!pattern.test(text), text),
  equal: (one, other, message = `${shown(one)}, not ${shown(other)}`) =>
    ok(Object.is(one, other), message),
  fail,
  match: (text, pattern) => ok(pattern.test(text), text),
  notDeepEqual: (one, other, message) => ok(!isEqual(one, other), message),
  notEqual: (one, other, message = `twice ${shown(one)}`) => ok(!Object.is(one, other), message),
  ok,
  rejects,
  throws,
})
