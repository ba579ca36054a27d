'use strict'

const { engines } = require('./engines.js')

/** The ways of a shop that runs as several processes: as in index.js. */
module.exports = {
  each: { title: 'KeyedMutex of each process', locks: false, create: require('./boxoffice.js') },
  host: { title: "KeyedMutex, scope 'host'", locks: true, create: require('./host.js') },
  ...engines,
}
