'use strict'
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setImmediate: nextTurn } = require('node:timers/promises')
const { Database } = require('node-sqlite3-wasm')

const schema = [
  'CREATE TABLE event (tickets integer NOT NULL, remaining integer NOT NULL)',
  'CREATE TABLE orders (id integer PRIMARY KEY, buyer text NOT NULL)',
  'CREATE TABLE fences (buyer text PRIMARY KEY, token bigint NOT NULL)',
  'CREATE INDEX orders_buyer ON orders (buyer)', // not unique: see shop.js
]

/**
 * SQLite as WebAssembly: it needs no compiler and no download but npm's. The database is a file of
 * its own in the temporary directory and is deleted with the store.
 */
module.exports = function openSqlite() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'ticket-shop-'))
  const database = new Database(path.join(directory, 'shop.db'))
  // One process owns the file, so this build can use the write-ahead log. A file that is deleted
  // with the store need not survive a power failure.
  database.exec(
    'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF',
  )
  const statements = new Map()

  function prepared(sql) {
    let statement = statements.get(sql)
    if (!statement) {
      statement = database.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }

  return {
    schema,
    async query(sql, values) {
      const rows = prepared(sql).all(values)
      // An embedded database answers at once. Any other database answers through a socket, in a
      // later turn of the event loop. This one does so, too, to be no easier.
      await nextTurn()
      return rows
    },
    async close() {
      for (const statement of statements.values()) statement.finalize()
      database.close()
      fs.rmSync(directory, { recursive: true })
    },
  }
}
