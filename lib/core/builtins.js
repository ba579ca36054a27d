'use strict'
// Node.js's modules, its clock and its timers, for locks of every scope: in an ES module made by esbuild, require() finds
// no module of Node.js. Node.js before 20.16 has no getBuiltinModule().
//
// index.js loads this file. Programs replace the clock and the timers in their tests, and files that are loaded with the
// first lock of a scope would keep the replaced ones for good. Only a wait's own timeout is a global timer: tests let
// time pass for it.
const get = (name) => process.getBuiltinModule?.(name)

const { clearImmediate, clearTimeout, setImmediate, setTimeout } =
  get('node:timers') ?? require('node:timers')
const { performance } = get('node:perf_hooks') ?? require('node:perf_hooks')

/** A variable of the environment. Undefined as well where Deno may not read it: it would throw, or ask the user. */
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
