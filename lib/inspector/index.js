'use strict'
const { snapshot } = require('../index.js')
const { makeInspector } = require('./handler.js')

const inspector = (options) => makeInspector(snapshot, options)

module.exports = { inspector }
