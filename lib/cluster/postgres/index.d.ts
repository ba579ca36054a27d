/**
 * Locks of several machines over PostgreSQL.
 *
 * @module boxoffice/postgres
 */

import type { Key } from '../../core/keys.js'
import type { Engine, EngineOptions } from '../options.js'

/** A pool of the package `pg`: `new Pool(...)`. */
export interface PostgresPool {
  query: unknown
  options: object
  totalCount: number
}

/** A client of the package `pg`, as `pool.connect()` gives it. */
export interface PostgresClient {
  query: unknown
  /** A pool has it. The queries of a pool run on any of its connections, and so in any transaction. */
  totalCount?: undefined
}

/** The names of the engine's tables: at most 40 letters, digits and underscores, not beginning with a digit. */
export interface PostgresNames {
  /** The schema of the tables, created when it is missing. @default 'boxoffice' */
  schema?: string | undefined
  /** The prefix of the tables' names. Engines of different tables share no lock. @default 'leases' */
  table?: string | undefined
}

export interface PostgresOptions extends EngineOptions, PostgresNames {
  /**
   * The options of the engine's connections, as `new Client()` takes them. The default is the options of `pool`. Pass
   * it if the pool connects through a pooler that gives each transaction another session, like pgbouncer with
   * `pool_mode=transaction`: then connect to the server itself. Also pass it if the pool's options contain functions
   * (like a `password` function), which cannot be sent to the renewing thread.
   */
  connection?: object | undefined
  /** The most connections for commands: an integer of 1 or more. @default 4 */
  connections?: number | undefined
}

/**
 * Returns an engine over PostgreSQL 13 or later: see docs/postgres.md. On first use the engine creates missing tables:
 * see {@link postgresSchema}. It makes connections of its own with the options of `pool`: up to `connections` for
 * commands, one for notifications, and up to three in a thread that renews leases. They do not keep the process alive.
 * The engine connects when the first lock is acquired.
 *
 * Acquiring rejects with:
 *
 * - `ERR_LOCK_ENGINE_SESSION` if a pooler gives each transaction another session
 * - `ERR_LOCK_ENGINE_SCHEMA` if the user may not create missing tables, or may not use them
 * - `ERR_LOCK_ENGINE` after `pool.end()`, unless a `connection` was passed
 *
 * @throws {TypeError} if `pool` is not a pool, an option has the wrong type, or the connection's options contain
 *   functions.
 * @throws {RangeError} if an option is out of range, or a name has other characters than {@link PostgresNames} allows.
 *
 * @example
 * import { Pool } from 'pg'
 * import { KeyedMutex } from 'boxoffice'
 * import { postgres } from 'boxoffice/postgres'
 *
 * const pool = new Pool({ connectionString: 'postgres://127.0.0.1/shop' }).on('error', console.error)
 * const seats = new KeyedMutex({ engine: postgres(pool), name: 'seats' })
 * const release = await seats.acquire('A7', { timeout: 1000 })
 * try {
 *   await sell('A7', release.fencingToken, release.signal)
 * } finally {
 *   release()
 * }
 */
export function postgres(pool: PostgresPool, options?: PostgresOptions): PostgresEngine

/**
 * Returns the SQL that creates the tables of an engine with these names. Run it in a migration if the program's user
 * may not create tables. It is idempotent, and one transaction if it is sent as one query. The engine's user needs
 * USAGE of the schema and all privileges on its tables.
 *
 * @throws {TypeError} if a name is not a string.
 * @throws {RangeError} if a name is too long, or has other characters than letters, digits and underscores.
 *
 * @example
 * await admin.query(postgresSchema({ schema: 'locks' }))
 * await admin.query('GRANT USAGE ON SCHEMA locks TO shop')
 * await admin.query('GRANT ALL ON ALL TABLES IN SCHEMA locks TO shop')
 */
export function postgresSchema(names?: PostgresNames): string

export interface PostgresEngine extends Engine {
  /**
   * Returns locks that the transaction of `client` holds until it ends by commit, rollback or disconnection:
   * PostgreSQL's advisory locks. Prefer them if all work is in that transaction: they cannot be lost before it ends, so
   * they need no fencing token, no renewal and no table, and work with any pool, also with pgbouncer's transaction
   * mode. They do not exclude holders of `new KeyedMutex({ engine, name })`: use one of the two for each purpose.
   *
   * @throws {TypeError} if `client` has no `query()`, or is a pool.
   *
   * @example
   * try {
   *   await client.query('BEGIN')
   *   await engine.withTransaction(client).acquire('seat A7', { timeout: 1000 })
   *   await client.query('UPDATE seats SET owner = $1 WHERE id = $2 AND owner IS NULL', [user, 'A7'])
   *   await client.query('COMMIT')
   * } catch (error) {
   *   await client.query('ROLLBACK')
   *   throw error
   * }
   */
  withTransaction(client: PostgresClient): TransactionLocks
}

export interface TransactionLockOptions {
  /** Shares the lock with other transactions that set `shared`. @default false */
  shared?: boolean | undefined
}

/**
 * The locks of {@link PostgresEngine.withTransaction}. A transaction may acquire a key again. A call acquires several
 * keys in a fixed order, so that two calls cannot deadlock. PostgreSQL gets the first 64 bits of a digest of each key.
 *
 * Calls on one client run one after the other. Await each call before you send other statements on the client: a call
 * with a `timeout`, and `tryAcquire()` of several keys, may undo statements that are sent while it is pending.
 */
export interface TransactionLocks {
  /**
   * Waits until the transaction holds the lock of `key`, or of all keys. The promise rejects with:
   *
   * - `ERR_LOCK_TIMEOUT` after `timeout` ms. The transaction can go on, without any lock that this call has acquired.
   * - `ERR_LOCK_ENGINE` if the server has not answered for `answerTimeout` after that. The state of the transaction is
   *   unknown then: end the client by `client.release(true)` or `client.end()`.
   * - `ERR_LOCK_NO_TRANSACTION` if the client is not in a transaction. It then holds no lock.
   * - a TypeError or RangeError if an argument is invalid
   * - PostgreSQL's error if the statement fails
   *
   * @param options `timeout`, in milliseconds, includes the wait for earlier calls on the client. Without it only
   *   PostgreSQL ends the wait, by `statement_timeout` or because of a deadlock.
   *
   * @example
   * await locks.acquire(['A7', 'A8'], { timeout: 500 })
   */
  acquire(
    key: Key | readonly Key[],
    options?: TransactionLockOptions & {
      /** The longest wait in milliseconds: see above. @default no limit */
      timeout?: number | undefined
    },
  ): Promise<void>

  /**
   * Acquires the lock of `key`, or of all keys, without waiting. If one is not available, acquires none and resolves to
   * false. Rejects as {@link TransactionLocks.acquire} does, with `ERR_LOCK_ENGINE` if the server does not answer
   * within `answerTimeout`.
   *
   * @example
   * if (!(await locks.tryAcquire('nightly report'))) return
   */
  tryAcquire(key: Key | readonly Key[], options?: TransactionLockOptions): Promise<boolean>
}
