'use strict'
// Node.js's modules for locks of the thread scope: in an ES module made by esbuild, require() finds
// none of them. Node.js before 20.16 has no getBuiltinModule().
const get = (name) => process.getBuiltinModule?.(name)

module.exports = {
  get async_hooks() {
    return get('node:async_hooks') ?? require('node:async_hooks')
  },
  get events() {
    return get('node:events') ?? require('node:events')
  },
  get perf_hooks() {
    return get('node:perf_hooks') ?? require('node:perf_hooks')
  },
  get util() {
    return get('node:util') ?? require('node:util')
  },
}
