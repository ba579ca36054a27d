'use strict'
// Sends the statements of one call of transaction.js.
const { lockError } = require('../../core/errors.js')
const { nameOf } = require('../../core/keys.js')
const { longestTimeout } = require('../../core/options.js')
const { now } = require('../clock.js')
const { inTime } = require('../patience.js')
const { asText, isTrue } = require('./text.js')

/** The SQLSTATEs of a statement that lock_timeout has ended, and of a command that needs a transaction. */
const lateState = '55P03'
const noTransactionState = '25P01'

/**
 * A failed statement aborts its transaction, unless the transaction rolls back to a savepoint. That also releases the
 * locks that were acquired after the savepoint.
 */
const release = 'RELEASE SAVEPOINT boxoffice'
const rollback = `ROLLBACK TO SAVEPOINT boxoffice; ${release}`

const namesOf = (keys) => keys.map(([, key]) => nameOf(key)).join(', ')

function noTransactionError(key) {
  return lockError(
    'ERR_LOCK_NO_TRANSACTION',
    `the lock of key ${nameOf(key)} needs a transaction, which would hold it, and the client is in none. ` +
      "Call client.query('BEGIN') first",
  )
}

function silentError(keys, time) {
  return lockError(
    'ERR_LOCK_ENGINE',
    `PostgreSQL has not answered for the lock of ${namesOf(keys)} in a transaction within ${Math.round(time)} ms. ` +
      'The state of the transaction is unknown: end the client, by client.release(true) or client.end()',
  )
}

class TransactionCall {
  #client
  #answerTimeout
  #keys
  #take
  #timeout
  #deadline

  /**
   * `keys` are pairs of a lock's number and its key, and `take` names the function of PostgreSQL that locks a number.
   * The server ends a wait after `timeout` ms, and has `answerTimeout` ms more to answer.
   */
  constructor(client, answerTimeout, { keys, take, timeout = Number.POSITIVE_INFINITY }) {
    this.#client = client
    this.#answerTimeout = answerTimeout
    this.#keys = keys
    this.#take = take
    this.#timeout = timeout
    this.#deadline = now() + timeout
  }

  lateError() {
    return lockError(
      'ERR_LOCK_TIMEOUT',
      `timeout of ${Math.round(this.#timeout)} ms while waiting for the lock of ${namesOf(this.#keys)} in a transaction, which may go on without it`,
    )
  }

  /**
   * Acquires the locks of the keys. Resolves to false at the first one that is not available. The functions of
   * PostgreSQL that wait return no value, which counts as true.
   */
  async takeAll() {
    for (const one of this.#keys) if (!(await this.#takeOne(one))) return false
    return true
  }

  async #takeOne([number, key]) {
    // Inside a transaction, whose now() is that of its first statement, the two times differ, even if the clock was set
    // back. Send no parameters, so that outside of one the statement is one message with one time. Outside do not take
    // the lock: the statement might wait for it.
    const { has } = await this.#read(`
      SELECT (CASE WHEN now() <> statement_timestamp() THEN ${this.#take}(${number})::text END <> 'false')::text AS has`)
    if (has === null) throw noTransactionError(key)
    return isTrue(has)
  }

  /** As takeAll(), but acquires no lock if one is not available. */
  async takeAllOrNone() {
    await this.#save()
    const hasAll = await this.takeAll()
    await this.#send(hasAll ? release : rollback)
    return hasAll
  }

  /** Waits for all locks. Rejects with lateError() after the timeout, and then releases those that it has acquired. */
  async takeInTime() {
    await this.#save()
    const { lock_timeout: before } = await this.#read('SHOW lock_timeout')
    try {
      for (const one of this.#keys) {
        // 0 would mean no timeout.
        const left = Math.max(1, Math.ceil(this.#deadline - now()))
        await this.#send(`SET LOCAL lock_timeout = ${left}`)
        await this.#takeOne(one)
      }
    } catch (error) {
      // After any other error, the transaction is aborted.
      if (error.code !== lateState) throw error
      await this.#send(rollback)
      throw this.lateError()
    }
    // Releasing the savepoint would keep the setting.
    await this.#send(`SET LOCAL lock_timeout = '${before}'; ${release}`)
  }

  async #save() {
    const [[, key]] = this.#keys
    try {
      await this.#send('SAVEPOINT boxoffice')
    } catch (error) {
      throw error.code === noTransactionState ? noTransactionError(key) : error
    }
  }

  /** Resolves to the row of the statement. All its columns must be text, in case the client asks for binary values. */
  async #read(text) {
    const { rows } = await this.#send({ text, types: asText })
    return rows[0]
  }

  /** Sends a statement. Rejects if the server does not answer in time, so that this call sends no further one. */
  #send(statement) {
    const answer = this.#client.query(statement)
    const time = Math.max(0, this.#deadline - now()) + this.#answerTimeout
    if (time > longestTimeout) return answer
    return inTime(answer, time, () => silentError(this.#keys, time))
  }
}

module.exports = { TransactionCall }
