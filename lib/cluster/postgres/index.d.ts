import type { Key } from '../../locks/keyed.js'
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
}

/** What the engine's tables are called: letters, digits and underscores, at most 40, none of them a digit first. */
export interface PostgresNames {
  /** The schema they are in, which is made where it is missing. @default 'boxoffice' */
  schema?: string
  /** What their names begin with: locks of other tables are other locks. @default 'leases' */
  table?: string
}

export interface PostgresOptions extends EngineOptions, PostgresNames {
  /**
   * What to connect with, in place of the options of the pool: configuration as `new Client()` takes it. For a pool
   * that gives each transaction another session, as pgbouncer does with `pool_mode=transaction`: then this leads to the
   * server itself. And for one with functions in its options (a `password` that is called), which the thread that
   * renews cannot be given.
   */
  connection?: object
  /** How many commands may be on their way to the server at once, each on a connection: an integer of 1 or more. @default 4 */
  connections?: number
}

/**
 * An engine over PostgreSQL 13 or later: see docs/postgres.md. What it needs in the database is made on first
 * use, unless it is there: see {@link postgresSchema}. Its connections are its own, made as those of `pool` are: up to
 * `connections` for commands, one to hear of grants, and one or two in a thread that renews. They do not keep the process
 * alive. Nothing is connected before the first lock is wanted.
 *
 * Where something between the server and us gives each transaction another session, each wait is rejected
 * with `ERR_LOCK_ENGINE_SESSION`; where the tables are missing and may not be made, or may not be used, with
 * `ERR_LOCK_ENGINE_SCHEMA`. After `pool.end()` new locks are rejected with `ERR_LOCK_ENGINE`, unless there is a `connection`.
 *
 * @throws {TypeError} when `pool` is none, an option is of the wrong type, or the options of the connection have
 *   functions in them.
 * @throws {RangeError} when an option is out of its range, or a name has other characters.
 *
 * @example
 * import { Pool } from 'pg'
 * import { KeyedMutex } from 'boxoffice'
 * import { postgres } from 'boxoffice/postgres'
 *
 * const pool = new Pool({ connectionString: 'postgres://127.0.0.1/shop' })
 * const seats = new KeyedMutex({ engine: postgres(pool) })
 * const release = await seats.acquire('A7', { timeout: 1000 })
 * try {
 *   await sell('A7', release.fencingToken, release.signal)
 * } finally {
 *   release()
 * }
 */
export function postgres(pool: PostgresPool, options?: PostgresOptions): PostgresEngine

/**
 * The SQL that makes all that an engine of these names needs, as one transaction if it is sent as one text: for
 * migrations, where the program itself may create nothing. Run again it changes nothing. The user of the engine needs
 * USAGE of the schema and all rights to its tables.
 *
 * @throws {TypeError} when a name is not a string.
 * @throws {RangeError} when a name has other characters than letters, digits and underscores, or too many.
 *
 * @example
 * await admin.query(postgresSchema({ schema: 'locks' }))
 * await admin.query('GRANT USAGE ON SCHEMA locks TO shop')
 * await admin.query('GRANT ALL ON ALL TABLES IN SCHEMA locks TO shop')
 */
export function postgresSchema(names?: PostgresNames): string

export interface PostgresEngine extends Engine {
  /**
   * Locks that the transaction of `client` holds, and that end with it, however it ends: advisory locks of PostgreSQL.
   * For work that is all in that transaction they are the better ones: they cannot be lost while it lasts, so they need
   * no fence, no renewal and no table, and any pool will do, pgbouncer's transaction mode included. They know
   * nothing of the locks of `new KeyedMutex({ engine })`: take all of one purpose in one of the two ways.
   *
   * @throws {TypeError} when `client` has no `query()`.
   *
   * @example
   * await client.query('BEGIN')
   * await engine.withTransaction(client).acquire('A7', { timeout: 1000 })
   * await client.query('UPDATE seats SET owner = $1 WHERE id = $2 AND owner IS NULL', [user, 'A7'])
   * await client.query('COMMIT')
   */
  withTransaction(client: PostgresClient): TransactionLocks
}

export interface TransactionLockOptions {
  /** Shared with other transactions that ask for it shared. @default false */
  shared?: boolean
}

/**
 * See {@link PostgresEngine.withTransaction}. Keys are strings, numbers and bigints, kept apart; in the database they are
 * the first 64 bits of a digest. A transaction may take what it has again. Several keys are taken in one order, so
 * that no two calls wait for each other.
 */
export interface TransactionLocks {
  /**
   * Waits until the transaction has the lock of `key`, or of all of them.
   *
   * @param options `timeout`, in milliseconds: a transaction whose wait has ended so goes on, and has none of these
   *   locks more than before. Without it the wait ends with the statement: by `statement_timeout`, or by a deadlock.
   * @returns a promise that rejects with `ERR_LOCK_TIMEOUT` after the timeout, with `ERR_LOCK_NO_TRANSACTION` where
   *   the client is in no transaction (then nothing is held), with a TypeError or RangeError for what is not a key
   *   or an option, and with what PostgreSQL says when the statement fails.
   *
   * @example
   * await locks.acquire(['A7', 'A8'], { timeout: 500 })
   */
  acquire(
    key: Key | readonly Key[],
    options?: TransactionLockOptions & { timeout?: number },
  ): Promise<void>

  /**
   * Without waiting: whether the transaction has the lock of `key`, or of all of them, now. If not, it has none of these
   * more than before. Rejects as `acquire` does.
   *
   * @example
   * if (!(await locks.tryAcquire('nightly report'))) return
   */
  tryAcquire(key: Key | readonly Key[], options?: TransactionLockOptions): Promise<boolean>
}
