'use strict'
// Calls outside of the async context of a caller. What a connection, a thread or a timer keeps for long would otherwise keep
// the AsyncLocalStorage stores of the caller that happened to be the first, and its events would run in them.
const { AsyncResource } = require('node:async_hooks')

/** The context in which this file is loaded, with the first engine: mostly none. */
const loading = new AsyncResource('boxoffice')

const outside = (call) => loading.runInAsyncScope(call)

module.exports = { outside }
