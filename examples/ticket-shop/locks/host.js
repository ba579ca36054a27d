'use strict'
const { KeyedMutex } = require('../../..') // in a server of your own: require('boxoffice')
const keyed = require('./keyed.js')

const options = { scope: 'host', name: 'ticket-shop users', diagnostics: 'counters' }

/** One lock per user for all processes of the machine. */
module.exports = () => keyed(new KeyedMutex(options))
