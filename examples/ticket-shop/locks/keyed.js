'use strict'

/**
 * A KeyedMutex as a way to lock.
 *
 * A process can be killed when it has just sent a query, and its successor may come first. So the lock alone is not
 * enough: each grant has a fencing token that is larger than those before it, and the database refuses what comes with
 * a smaller one than it has seen. The lock saves work, and the token saves tickets.
 */
module.exports = (locks) => ({
  runExclusive: (user, work) => locks.runExclusive(user, work),
  held: () => [...locks.keys()],
})
