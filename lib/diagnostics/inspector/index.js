'use strict'
const { makeFetchInspector } = require('./fetch.js')
const { makeInspector } = require('./handler.js')

/** Loads the addon when a request asks for the locks: a bundle without it has no locks to show. */
const snapshot = () => require('../process.js').snapshot()

const inspector = (options) => makeInspector(snapshot, options)
const fetchInspector = (options) => makeFetchInspector(snapshot, options)

module.exports = { fetchInspector, inspector }
