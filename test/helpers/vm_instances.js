'use strict'
// The package evaluated anew in vm contexts, as jest and the vm pools of vitest do for each test
// file. Built-in modules and addons are those of the process.
const { readFileSync } = require('node:fs')
const { createRequire, isBuiltin } = require('node:module')
const path = require('node:path')
const { setImmediate: nextTurn, setTimeout: after } = require('node:timers/promises')
const vm = require('node:vm')

/** Globals of the host, in addition to the context's own. */
const globals = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'DOMException',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'URLSearchParams',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'console',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'structuredClone',
]

/** A `require` with its own modules, each evaluated in `context`, or in this one, but for `modules`: exports by file. */
function requireIn(context, from, modules = new Map()) {
  const requireFrom = (parent) => {
    const { resolve } = createRequire(parent)
    const requireHere = (request) => {
      if (isBuiltin(request)) return require(request)
      const file = resolve(request)
      return file.endsWith('.node') ? require(file) : load(file).exports
    }
    return Object.assign(requireHere, { resolve })
  }
  const load = (file) => {
    const known = modules.get(file)
    if (known !== undefined) return known
    const module = { exports: {} }
    modules.set(file, module)
    const text = readFileSync(file, 'utf8')
    if (file.endsWith('.json')) {
      module.exports = JSON.parse(text)
      return module
    }
    const names = ['module', 'exports', 'require', '__filename', '__dirname']
    const options = { filename: file, parsingContext: context }
    vm.compileFunction(text, names, options).call(
      module.exports,
      module,
      module.exports,
      requireFrom(file),
      file,
      path.dirname(file),
    )
    return module
  }
  return requireFrom(from)
}

/**
 * Evaluates `code`, the body of an async function that may `require` by paths from the folder of
 * the tests, in a new context. Returns its result, and a WeakRef to the context.
 */
async function runInContext(code, values = {}) {
  const context = vm.createContext({ ...values })
  for (const name of globals) context[name] = globalThis[name]
  context.global = vm.runInContext('globalThis', context)
  const context_ = new WeakRef(vm.runInContext('Object', context))
  const require = requireIn(context, path.join(__dirname, '..', 'of.js'))
  const run = vm.compileFunction(`return (async () => {${code}})()`, ['require'], {
    parsingContext: context,
  })
  return { value: await run(require), context: context_ }
}

/** A `require` of the package, evaluated anew, whose diagnostics take `clock.now`, in ms, for the time. */
function packageWithClock(clock) {
  const file = require.resolve('../../lib/core/builtins.js')
  const exports = { timeOrigin: 0, now: () => clock.now }
  Object.setPrototypeOf(exports, require(file))
  return requireIn(undefined, __filename, new Map([[file, { exports }]]))
}

/** How many of `refs` are left, after the collector has had time for all that can be collected. */
async function left(refs) {
  let before
  let count = refs.length
  do {
    before = count
    for (let i = 0; i < 10; i++) {
      globalThis.gc()
      await nextTurn()
    }
    count = refs.filter((ref) => ref.deref() !== undefined).length
  } while (count < before)
  return count
}

/** How many contexts are left of those in which `code` has run, one after the other. */
async function contextsLeft(code, { count = 10, values } = {}) {
  const refs = []
  for (let i = 0; i < count; i++) refs.push((await runInContext(code, values)).context)
  return left(refs)
}

/**
 * The same, if the last reference to a context ends at an unknown time, as with sockets and
 * threads.
 */
async function contextsGone(code, count) {
  const refs = []
  for (let i = 0; i < count; i++) refs.push((await runInContext(code)).context)
  for (let tries = 0; tries < 100 && (await left(refs)) > 0; tries++) await after(20)
  return left(refs)
}

module.exports = { contextsGone, contextsLeft, left, packageWithClock, runInContext }
