'use strict'

/** The two ways of a shop that runs as several processes, in the order of its table: as in index.js. */
module.exports = {
  each: { title: 'KeyedMutex of each process', locks: false, create: require('./boxoffice.js') },
  host: { title: "KeyedMutex, scope 'host'", locks: true, create: require('./host.js') },
}
