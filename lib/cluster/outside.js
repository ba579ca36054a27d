'use strict'
// Calls functions outside of the async context of a caller. Otherwise a connection, a thread or a long timer would keep
// the AsyncLocalStorage stores of the caller that happened to be the first, and its events would run in them.
const { AsyncResource } = require('node:async_hooks')
const native = require('../addon/load.js')

/** A context without stores: a test of jest, for example, may load the first engine in a store. */
const empty = native.realm.outside(() => new AsyncResource('boxoffice'))

const outside = (call) => empty.runInAsyncScope(call)

module.exports = { outside }
