'use strict'

/**
 * The three ways to lock, in the order of the table. Each creates
 * `{ runExclusive(user, work), held(): users }`. One whose holder may lose the lock without hearing of it calls
 * `work` with its fencing token.
 */
module.exports = {
  none: { title: 'no lock', locks: false, create: require('./none.js') },
  map: { title: 'Map of async-mutex', locks: true, create: require('./map.js') },
  boxoffice: { title: 'KeyedMutex', locks: true, create: require('./boxoffice.js') },
}
