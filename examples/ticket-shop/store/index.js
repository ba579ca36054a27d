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

  return {
    findOrder: (user) =>
      first('SELECT id, buyer FROM orders WHERE buyer = $1 ORDER BY id LIMIT 1', [user]),

    createOrder: (user) =>
      first('INSERT INTO orders (buyer) VALUES ($1) RETURNING id, buyer', [user]),

    /** Resolves to whether there was one left. The check and the count are one statement. */
    takeTicket: async () =>
      (await first(
        'UPDATE event SET remaining = remaining - 1 WHERE remaining > 0 RETURNING remaining',
      )) !== null,

    putTicketBack: () => query('UPDATE event SET remaining = remaining + 1'),

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
