'use strict'
// Calls outside of the async context of a caller. A connection, a thread or a long timer would otherwise keep the
// AsyncLocalStorage stores of the caller that happened to be the first, and its events would run in them.
const { AsyncResource } = require('node:async_hooks')

/** The context in which the first engine loads this file: usually it has no stores. */
const loading = new AsyncResource('boxoffice')

const outside = (call) => loading.runInAsyncScope(call)

module.exports = { outside }
