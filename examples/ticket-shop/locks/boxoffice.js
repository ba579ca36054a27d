'use strict'
const { KeyedMutex } = require('../../..') // in a server of your own: require('boxoffice')

/** All of locks/map.js. An idle user costs nothing, and nothing needs to be cleaned up. */
module.exports = () => {
  const locks = new KeyedMutex({ diagnostics: 'counters' })

  return {
    runExclusive: (user, work) => locks.runExclusive(user, work),
    held: () => [...locks.keys()],
  }
}
