'use strict'
// Calls functions outside of the async context of a caller. Otherwise a connection, a thread or a long timer would keep
// the AsyncLocalStorage stores of the caller that happened to be the first, and its events would run in them.
const { AsyncResource } = require('node:async_hooks')

/** The context in which this file is loaded, with the first engine. Usually it has no stores. */
const loading = new AsyncResource('boxoffice')

const outside = (call) => loading.runInAsyncScope(call)

module.exports = { outside }
