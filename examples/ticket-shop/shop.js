'use strict'

/**
 * The handler of the story: find the user's order and, if there is none, create it. Between the two
 * it awaits, and while it awaits, the user's second click runs the same lines. Without a lock both
 * clicks find nothing and both create an order. No unique constraint catches that here: it is what
 * the lock is for.
 *
 * Two things could go wrong, and each has the remedy that fits it:
 *
 * - Double tickets, between clicks of ONE user. "Find, then create" spans several queries, so it
 *   needs a lock, and a lock per user: strangers must not wait for each other.
 * - Overselling, between DIFFERENT users. The lock per user does not help, for both hold their own.
 *   One lock for the whole event would, and every buyer would queue at it for the whole purchase.
 *   But "is one left? take it" is a single statement, `UPDATE ... WHERE remaining > 0`, which the
 *   database itself makes atomic; it holds for every process that uses the database, too.
 *
 * @param {object} options
 * @param options.store what store/index.js opens
 * @param options.lock what locks/index.js creates
 * @param {() => Promise<void>} options.pause stands for a slow step, such as a payment provider
 * @param {() => void} options.changed is told when a lock or an order may have changed
 */
module.exports = function createShop({ store, lock, pause, changed }) {
  // the page: from here
  // `lock` is the one that you have chosen above, and `store` has the queries of the database.
  const buy = (user) => lock.runExclusive(user, (grant) => findOrCreate(user, grant?.fencingToken))

  // A lock of scope 'host' has a fencing token: the database refuses a holder with an older one.
  async function findOrCreate(user, token) {
    changed() // shows the held locks on this page
    const found = await store.findOrder(user, token)
    if (found) return { order: found, created: false }

    await pause() // stands for a slow step, such as a payment
    if (!(await store.takeTicket())) return { order: null, created: false } // sold out
    return { order: await createOrder(user, token), created: true }
  }

  async function createOrder(user, token) {
    try {
      return await store.createOrder(user, token)
    } catch (error) {
      // The ticket is counted down before it has an owner. A crash in between loses a ticket, which
      // is bad; the other way round it would sell one that does not exist, which is worse.
      await store.putTicketBack()
      throw error
    }
  }
  // the page: to here

  return {
    async claim(user) {
      try {
        return await buy(user)
      } finally {
        changed()
      }
    },
  }
}
