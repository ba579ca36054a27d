'use strict'
// The statements of one call of withTransaction(): see transaction.js.
const { lockError } = require('../../core/errors.js')
const { nameOf } = require('../../core/keys.js')
const { longestTimeout } = require('../../core/options.js')
const { now } = require('../clock.js')
const { inTime } = require('../patience.js')
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
   * `keys` are pairs of a number and its key, and `take` is the function of PostgreSQL that locks a number. The server may
   * be silent for `answerTimeout` ms more than the call may wait: it ends a wait itself when `timeout` ms have passed.
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
   * Resolves to whether the transaction has all of them. A statement that waits returns no value,
   * and has its lock.
   */
  async takeAll() {
    for (const one of this.#keys) if (!(await this.#takeOne(one))) return false
    return true
  }

  async #takeOne([number, key]) {
    // Without parameters, so that it is one message with one timestamp: inside a transaction, this is not its first statement.
    // The server's clock may have been set back since the first one.
    const { has, lasts } = await this.#read(`
      SELECT (${this.#take}(${number})::text <> 'false')::text AS has,
        (now() <> statement_timestamp())::text AS lasts`)
    if (!isTrue(lasts)) throw noTransactionError(key)
    return isTrue(has)
  }

  /** Resolves to whether the transaction has all of them. If not, it has none of them. */
  async takeAllOrNone() {
    await this.#save()
    const hasAll = await this.takeAll()
    await this.#send(hasAll ? release : rollback)
    return hasAll
  }

  /** Waits for all of them until the timeout is over. If it is, the transaction has none of them. */
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
      // Any other error has failed the transaction.
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

  /**
   * The row of a statement whose columns are text, also for a client that asks for binary values.
   */
  async #read(text) {
    const { rows } = await this.#send({ text, types: asText })
    return rows[0]
  }

  /** A server that does not answer gets no further statement of this call. */
  #send(statement) {
    const answer = this.#client.query(statement)
    const time = Math.max(0, this.#deadline - now()) + this.#answerTimeout
    if (time > longestTimeout) return answer
    return inTime(answer, time, () => silentError(this.#keys, time))
  }
}

module.exports = { TransactionCall }
