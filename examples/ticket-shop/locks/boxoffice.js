'use strict'
const { KeyedMutex } = require('../../..') // in a server of your own: require('boxoffice')
const keyed = require('./keyed.js')

/** Replaces all of locks/map.js. An idle user costs nothing, and nothing needs to be cleaned up. */
module.exports = () => keyed(new KeyedMutex({ diagnostics: 'counters' }))
