'use strict'
const { engines } = require('./engines.js')

/**
 * The ways to lock. Each creates `{ runExclusive(user, work), held(): users }`. `scope` is what it
 * protects: nothing, one process, or all of them. Those of boxoffice pass the grant to `work`.
 */
module.exports = {
  none: { title: 'no lock', scope: 'none', create: require('./none.js') },
  map: { title: 'Map of async-mutex', scope: 'process', create: require('./map.js') },
  boxoffice: { title: 'KeyedMutex', scope: 'process', create: require('./boxoffice.js') },
  host: { title: "KeyedMutex, scope 'host'", scope: 'all', create: require('./host.js') },
  ...engines,
}
