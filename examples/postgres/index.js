'use strict'
const { Pool } = require('pg')
const { KeyedMutex } = require('boxoffice')
const { postgres } = require('boxoffice/postgres')

const pool = new Pool({ connectionString: process.env.DATABASE_URL })
const engine = postgres(pool)
const seats = new KeyedMutex({ engine, name: 'seats', timeout: 10_000 })

const read = 'UPDATE example_seats SET fence = $2 WHERE id = $1 AND fence < $2 RETURNING buyer'
const write = 'UPDATE example_seats SET buyer = $3 WHERE id = $1 AND fence = $2'

/** Reading advances the fence, so a holder that has lost the lock can no longer write. */
const buy = (id, user) =>
  seats.runExclusive(id, async ({ fencingToken }) => {
    const { rows } = await pool.query(read, [id, fencingToken])
    if (rows.length === 0 || rows[0].buyer !== null) return `${user}: ${id} is sold`
    const { rowCount } = await pool.query(write, [id, fencingToken, user])
    return `${user}: ${rowCount === 1 ? 'has' : 'lost'} ${id}`
  })

async function main() {
  await pool.query('CREATE TABLE example_seats (id text PRIMARY KEY, buyer text, fence bigint)')
  await pool.query("INSERT INTO example_seats VALUES ('A7', NULL, 0)")
  console.log((await Promise.all(['ada', 'bob'].map((user) => buy('A7', user)))).join('\n'))
  await pool.query('DROP TABLE example_seats')
  await engine.close()
  await pool.end()
}
main()
