'use strict'
// Locks of PostgreSQL itself for work inside one transaction: advisory locks, which end with it. They need no lease
// and no session, since nothing can end the lock without ending the transaction; so any pool will do, pgbouncer's
// transaction mode included. They are numbers of 64 bits: the first ones of a digest of the key.
const { createHash } = require('node:crypto')
const { lockError } = require('../../core/errors.js')
const { checkKey, nameOf, toText } = require('../../core/keys.js')
const { now } = require('../clock.js')
const { checkKnown, checkObject, checkTimeout, longestTimeout } = require('../../core/options.js')
const { asText, isTrue } = require('./text.js')

/** What PostgreSQL says when it has waited for lock_timeout, and when there is no transaction. */
const lateState = '55P03'
const noTransactionState = '25P01'

/** A statement that fails ends its transaction, but for what is within a savepoint; locks taken there go with it. */
const release = 'RELEASE SAVEPOINT boxoffice'
const rollback = `ROLLBACK TO SAVEPOINT boxoffice; ${release}`

/** The number of a key, for SQL. */
function numberOf(key) {
  const digest = createHash('sha256')
    .update(`boxoffice ${toText(key)}`)
    .digest()
  return digest.readBigInt64BE()
}

const transactionOptions = new Set(['shared', 'timeout', 'signal'])

/** `key` may be several keys. They are taken in one order, each once: so that transactions do not deadlock. */
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
    throw new TypeError('a statement of a transaction cannot hear of a signal: give it a timeout')
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
    `there is no transaction to hold the lock of key ${nameOf(key)}: it would end with its statement. ` +
      "Call client.query('BEGIN') first",
  )
}

function lateError(keys, timeout) {
  const names = keys.map(([, key]) => nameOf(key)).join(', ')
  return lockError(
    'ERR_LOCK_TIMEOUT',
    `timeout of ${timeout} ms while waiting for the lock of ${names} in a transaction, which may go on without it`,
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

  /** Without waiting: whether the transaction has all of them now; if not, it has none of them. */
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

  /** Whether the transaction has all of them: those that wait say nothing, and have. */
  async #takeAll(keys, call) {
    for (const [number, key] of keys) {
      // Without values, so that it is one message, with one time: in a transaction, this is not its first.
      const { has, lasts } = await this.#read(`
        SELECT (${call}(${number})::text <> 'false')::text AS has,
          (now() < statement_timestamp())::text AS lasts`)
      if (!isTrue(lasts)) throw noTransactionError(key)
      if (!isTrue(has)) return false
    }
    return true
  }

  /** The row of a statement whose columns are text, which a client that asks for binary values gets as well. */
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
        // 0 would be for ever.
        const left = Math.max(1, Math.ceil(deadline - now()))
        await this.#client.query(`SET LOCAL lock_timeout = ${left}`)
        await this.#takeAll([one], call)
      }
    } catch (error) {
      // Whatever else it is, the transaction has failed with it.
      if (error.code !== lateState) throw error
      await this.#client.query(rollback)
      throw lateError(keys, timeout)
    }
    // Released, the savepoint would leave it set.
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
