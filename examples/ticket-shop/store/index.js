'use strict'

/**
 * The shop's queries, the same for both databases. A database is `{ schema, query(sql, values) }`
 * and `close()`; `query` resolves to the rows, and never before the event loop has turned.
 *
 * @param {{ tickets: number, databaseUrl?: string }} options SQLite, unless there is a databaseUrl
 */
module.exports = async function openStore({ tickets, databaseUrl }) {
  const database = databaseUrl
    ? await require('./postgres.js')(databaseUrl)
    : require('./sqlite.js')()
  const { query } = database
  const first = async (sql, values) => (await query(sql, values))[0] ?? null

  try {
    for (const statement of database.schema) await query(statement)
    await query('INSERT INTO event (tickets, remaining) VALUES ($1, $1)', [tickets])
  } catch (error) {
    await database.close()
    throw error
  }

  // The check is on reads as well: otherwise a late writer that comes before the next one's write
  // would win.
  async function advanceFence(user, token) {
    const fence = await first(
      `INSERT INTO fences (buyer, token) VALUES ($1, $2)
       ON CONFLICT (buyer) DO UPDATE SET token = $2 WHERE fences.token < $2 RETURNING token`,
      [user, token],
    )
    if (fence === null) stale(user)
  }

  function stale(user) {
    throw new Error(`the lock of ${user} has been given to somebody else`)
  }

  return {
    /** With a fencing token: from now on no write for this user with a smaller token succeeds. */
    findOrder: async (user, token) => {
      if (token !== undefined) await advanceFence(user, token)
      return first('SELECT id, buyer FROM orders WHERE buyer = $1 ORDER BY id LIMIT 1', [user])
    },

    createOrder: async (user, token) => {
      if (token === undefined) {
        return first('INSERT INTO orders (buyer) VALUES ($1) RETURNING id, buyer', [user])
      }
      const order = await first(
        `INSERT INTO orders (buyer) SELECT buyer FROM fences WHERE buyer = $1 AND token = $2
         RETURNING id, buyer`,
        [user, token],
      )
      return order ?? stale(user)
    },

    /** Resolves to whether a ticket was left. The check and the count are one statement. */
    takeTicket: async () =>
      (await first(
        'UPDATE event SET remaining = remaining - 1 WHERE remaining > 0 RETURNING remaining',
      )) !== null,

    putTicketBack: () => query('UPDATE event SET remaining = remaining + 1'),

    /** Resets the store: all tickets are available, and there is no order. */
    reset: async () => {
      await query('DELETE FROM orders')
      await query('UPDATE event SET remaining = tickets')
    },

    summary: async () => {
      const { sold, people } = await first(
        `SELECT CAST(count(*) AS integer) AS sold,
                CAST(count(DISTINCT buyer) AS integer) AS people FROM orders`,
      )
      const { remaining } = await first('SELECT remaining FROM event')
      return { tickets, remaining, sold, people, doubles: sold - people }
    },

    recentOrders: (count) =>
      query('SELECT id, buyer FROM orders ORDER BY id DESC LIMIT $1', [count]),

    close: () => database.close(),
  }
}
