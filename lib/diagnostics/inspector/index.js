'use strict'
const { snapshot } = require('../../index.js')
const { makeFetchInspector } = require('./fetch.js')
const { makeInspector } = require('./handler.js')

const inspector = (options) => makeInspector(snapshot, options)
const fetchInspector = (options) => makeFetchInspector(snapshot, options)

module.exports = { fetchInspector, inspector }
