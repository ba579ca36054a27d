'use strict'
const { randomBytes } = require('node:crypto')
const { Pool } = require('pg')

const schema = [
  'CREATE TABLE event (tickets integer NOT NULL, remaining integer NOT NULL)',
  'CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, buyer text NOT NULL)',
  'CREATE TABLE fences (buyer text PRIMARY KEY, token bigint NOT NULL)',
  'CREATE INDEX orders_buyer ON orders (buyer)', // not unique: see shop.js
]

/** Works in a schema of its own, which it drops at the end: it touches no other table. */
module.exports = async function openPostgres(connectionString) {
  const name = `ticket_shop_${randomBytes(6).toString('hex')}`
  const pool = new Pool({ connectionString, options: `-c search_path=${name}` })
  // The pool replaces an idle connection that breaks. A query on it would report its own error.
  pool.on('error', (error) => console.error(`PostgreSQL: ${error.message}`))

  try {
    await pool.query(`CREATE SCHEMA ${name}`)
  } catch (error) {
    await pool.end()
    throw error
  }

  return {
    schema,
    query: async (sql, values) => (await pool.query(sql, values)).rows,
    async close() {
      try {
        await pool.query(`DROP SCHEMA ${name} CASCADE`)
      } finally {
        await pool.end()
      }
    },
  }
}
