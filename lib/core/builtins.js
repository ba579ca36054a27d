'use strict'
// The modules, the clock and the timers of Node.js, for locks of every scope. In an ES module made by esbuild,
// require() finds no module of Node.js; Node.js before 20.16 has no getBuiltinModule().
//
// index.js loads this file first. Tests replace the clock and the timers, and a file that is loaded later, with the
// first lock of its scope, would keep the replaced ones for good. Only the timeout of a wait uses the global timer, so
// that tests can advance its clock.
const get = (name) => process.getBuiltinModule?.(name)

const { clearImmediate, clearTimeout, setImmediate, setTimeout } =
  get('node:timers') ?? require('node:timers')
const { performance } = get('node:perf_hooks') ?? require('node:perf_hooks')

/**
 * Reads a variable of the environment. Returns undefined in Deno without permission, where reading throws or prompts.
 */
function variable(name) {
  const status = globalThis.Deno?.permissions.querySync({ name: 'env', variable: name })
  return status === undefined || status.state === 'granted' ? process.env[name] : undefined
}

module.exports = {
  clearImmediate,
  clearTimeout,
  nextTick: process.nextTick,
  now: performance.now.bind(performance),
  queueMicrotask: globalThis.queueMicrotask,
  setImmediate,
  setTimeout,
  timeOrigin: performance.timeOrigin,
  variable,

  get async_hooks() {
    return get('node:async_hooks') ?? require('node:async_hooks')
  },
  get cluster() {
    return get('node:cluster') ?? require('node:cluster')
  },
  get events() {
    return get('node:events') ?? require('node:events')
  },
  get vm() {
    return get('node:vm') ?? require('node:vm')
  },
  get util() {
    return get('node:util') ?? require('node:util')
  },
  get worker_threads() {
    return get('node:worker_threads') ?? require('node:worker_threads')
  },
}
