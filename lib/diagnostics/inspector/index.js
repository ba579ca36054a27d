'use strict'
const { makeFetchInspector } = require('./fetch.js')
const { makeInspector } = require('./handler.js')

/** Loads the addon only when a request asks for the locks, because a bundle may lack it. */
const snapshot = () => require('../process.js').snapshot()

const inspector = (options) => makeInspector(snapshot, options)
const fetchInspector = (options) => makeFetchInspector(snapshot, options)

module.exports = { fetchInspector, inspector }
