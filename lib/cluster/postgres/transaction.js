'use strict'
// Locks of PostgreSQL itself for work inside one transaction: advisory locks, which end with the
// transaction. They need no lease and no session, because the lock cannot end before the
// transaction. So any pool will do, including pgbouncer in transaction mode. An advisory lock is a
// 64-bit number: the first bits of a digest of the key.
const { createHash } = require('node:crypto')
const { lockError } = require('../../core/errors.js')
const { toText } = require('../../core/key_text.js')
const { checkKey, nameOf } = require('../../core/keys.js')
const { now } = require('../clock.js')
const { checkKnown, checkObject, checkTimeout, longestTimeout } = require('../../core/options.js')
const { asText, isTrue } = require('./text.js')

/** PostgreSQL's states after lock_timeout, and outside a transaction. */
const lateState = '55P03'
const noTransactionState = '25P01'

/**
 * A failed statement aborts its transaction, unless it is within a savepoint; locks taken there are
 * released with it.
 */
const release = 'RELEASE SAVEPOINT boxoffice'
const rollback = `ROLLBACK TO SAVEPOINT boxoffice; ${release}`

/** The number of a key, as SQL. */
function numberOf(key) {
  const digest = createHash('sha256')
    .update(`boxoffice ${toText(key)}`)
    .digest()
  return digest.readBigInt64BE()
}

const transactionOptions = new Set(['shared', 'timeout', 'signal'])

/**
 * `key` may be several keys. They are taken in one order, each once, so that transactions do not
 * deadlock.
 */
function readWish(key, options) {
  const all = new Map()
  for (const one of Array.isArray(key) ? key : [key]) {
    checkKey(one)
    all.set(numberOf(one), one)
  }
  checkObject(options)
  checkKnown(options, transactionOptions)
  const { shared = false, timeout, signal } = options
  if (typeof shared !== 'boolean') throw new TypeError('shared must be a boolean')
  if (timeout !== undefined) checkTimeout(timeout)
  if (signal !== undefined) {
    throw new TypeError('locks of a transaction take no signal: use timeout')
  }
  return {
    keys: [...all].sort(([a], [b]) => (a < b ? -1 : 1)),
    mode: shared ? '_shared' : '',
    timeout: timeout > longestTimeout ? undefined : timeout,
  }
}

function noTransactionError(key) {
  return lockError(
    'ERR_LOCK_NO_TRANSACTION',
    `the lock of key ${nameOf(key)} needs a transaction, which would hold it, and the client is in none. ` +
      "Call client.query('BEGIN') first",
  )
}

function lateError(keys, timeout) {
  const names = keys.map(([, key]) => nameOf(key)).join(', ')
  return lockError(
    'ERR_LOCK_TIMEOUT',
    `timeout of ${Math.round(timeout)} ms while waiting for the lock of ${names} in a transaction, which may go on without it`,
  )
}

class TransactionLocks {
  #client

  constructor(client) {
    if (typeof client?.query !== 'function') {
      throw new TypeError('client must be a client of the package pg, as pool.connect() gives it')
    }
    this.#client = client
  }

  async acquire(key, options = {}) {
    const { keys, mode, timeout } = readWish(key, options)
    const call = `pg_advisory_xact_lock${mode}`
    if (timeout === undefined) await this.#takeAll(keys, call)
    else await this.#takeWithin(timeout, keys, call)
  }

  /** Without waiting: resolves to whether the transaction has all of them. If not, it has none. */
  async tryAcquire(key, options = {}) {
    const { keys, mode, timeout } = readWish(key, options)
    if (timeout !== undefined) throw new TypeError('tryAcquire() does not wait: it has no timeout')
    const call = `pg_try_advisory_xact_lock${mode}`
    if (keys.length === 1) return this.#takeAll(keys, call)
    await this.#save(keys)
    const hasAll = await this.#takeAll(keys, call)
    await this.#client.query(hasAll ? release : rollback)
    return hasAll
  }

  /**
   * Resolves to whether the transaction has all of them. A statement that waits returns no value,
   * and has its lock.
   */
  async #takeAll(keys, call) {
    for (const [number, key] of keys) {
      // Without parameters, so that it is one message with one timestamp: inside a transaction,
      // this is not its first statement.
      const { has, lasts } = await this.#read(`
        SELECT (${call}(${number})::text <> 'false')::text AS has,
          (now() < statement_timestamp())::text AS lasts`)
      if (!isTrue(lasts)) throw noTransactionError(key)
      if (!isTrue(has)) return false
    }
    return true
  }

  /**
   * The row of a statement whose columns are text, also for a client that asks for binary values.
   */
  async #read(text) {
    const { rows } = await this.#client.query({ text, types: asText })
    return rows[0]
  }

  async #takeWithin(timeout, keys, call) {
    const deadline = now() + timeout
    await this.#save(keys)
    const { lock_timeout: before } = await this.#read('SHOW lock_timeout')
    try {
      for (const one of keys) {
        // 0 would mean no timeout.
        const left = Math.max(1, Math.ceil(deadline - now()))
        await this.#client.query(`SET LOCAL lock_timeout = ${left}`)
        await this.#takeAll([one], call)
      }
    } catch (error) {
      // Any other error has failed the transaction.
      if (error.code !== lateState) throw error
      await this.#client.query(rollback)
      throw lateError(keys, timeout)
    }
    // Releasing the savepoint would keep the setting.
    await this.#client.query(`SET LOCAL lock_timeout = '${before}'; ${release}`)
  }

  async #save([[, key]]) {
    try {
      await this.#client.query('SAVEPOINT boxoffice')
    } catch (error) {
      throw error.code === noTransactionState ? noTransactionError(key) : error
    }
  }
}

module.exports = { TransactionLocks }
