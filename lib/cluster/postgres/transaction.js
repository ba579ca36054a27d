'use strict'
// Locks for work inside one transaction: PostgreSQL's advisory locks, which end with the transaction and never before
// it. So they need no lease and no session, and any pool will do, including pgbouncer in transaction mode. The name of
// an advisory lock is a 64-bit number: here, the first bits of a digest of the key.
const { checkType } = require('../../core/errors.js')
const { createHash } = require('node:crypto')
const { toText } = require('../../core/key_text.js')
const { checkKey } = require('../../core/keys.js')
const { checkKnown, checkObject, checkTimeout, longestTimeout } = require('../../core/options.js')
const { inTurn } = require('./client_turns.js')
const { TransactionCall } = require('./transaction_call.js')

/** Returns the number of the lock of `key`. */
function numberOf(key) {
  const digest = createHash('sha256')
    .update(`boxoffice ${toText(key)}`)
    .digest()
  return digest.readBigInt64BE()
}

const transactionOptions = new Set(['shared', 'timeout'])

/**
 * Checks the arguments. `key` may be several keys: all calls acquire them in one order, each once, so that transactions
 * do not deadlock.
 */
function readWish(key, options) {
  const all = new Map()
  for (const one of Array.isArray(key) ? key : [key]) {
    checkKey(one)
    all.set(numberOf(one), one)
  }
  checkObject(options)
  const { ifAvailable, signal, ...others } = options
  if (signal !== undefined)
    throw new TypeError('locks of a transaction take no signal: use timeout')
  if (ifAvailable !== undefined)
    throw new TypeError('locks of a transaction take no ifAvailable: use tryAcquire()')
  checkKnown(others, transactionOptions)
  const { shared = false, timeout } = others
  checkType('shared', shared, 'boolean')
  if (timeout !== undefined) checkTimeout(timeout)
  return {
    keys: [...all].sort(([a], [b]) => (a < b ? -1 : 1)),
    mode: shared ? '_shared' : '',
    timeout: timeout > longestTimeout ? undefined : timeout,
  }
}

class TransactionLocks {
  #client
  #answerTimeout

  constructor(client, answerTimeout) {
    // The queries of a pool run on any of its connections, so in any transaction.
    if (typeof client?.query !== 'function' || client.totalCount !== undefined) {
      throw new TypeError(
        'client must be a client of the package pg, as pool.connect() gives it, and not the pool itself',
      )
    }
    this.#client = client
    this.#answerTimeout = answerTimeout
  }

  async acquire(key, options = {}) {
    const { keys, mode, timeout } = readWish(key, options)
    const call = this.#call(keys, `pg_advisory_xact_lock${mode}`, timeout)
    const isPlain = timeout === undefined || keys.length === 0
    const makeLateError = () => call.lateError()
    const take = () => (isPlain ? call.takeAll() : call.takeInTime())
    await inTurn(this.#client, take, { isPlain, timeout, makeLateError })
  }

  /** Acquires all keys without waiting. If one is not available, acquires none and resolves to false. */
  async tryAcquire(key, options = {}) {
    const { keys, mode, timeout } = readWish(key, options)
    if (timeout !== undefined) throw new TypeError('tryAcquire() does not wait: it has no timeout')
    const call = this.#call(keys, `pg_try_advisory_xact_lock${mode}`, 0)
    const take = () => (keys.length < 2 ? call.takeAll() : call.takeAllOrNone())
    // Do not run beside a plain call that waits: its wait would count as time without an answer to this call.
    return inTurn(this.#client, take, { isPlain: false })
  }

  #call(keys, take, timeout) {
    return new TransactionCall(this.#client, this.#answerTimeout, { keys, take, timeout })
  }
}

module.exports = { TransactionLocks }
