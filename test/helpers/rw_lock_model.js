'use strict'
// A model of RWLock, as arrays: holders and waiters. A request is { id, mode, priority, until };
// `settle(id, how)` ends it.
class RWLockModel {
  /** Ids of the holders. */
  readers = []
  writer = undefined
  /** Highest priority first, then in order of arrival. */
  queue = []
  /**
   * The upgrading reader, ahead of the queue: { id, reader, until }; `reader` is the id of its
   * grant.
   */
  upgrader = undefined

  constructor(settle) {
    this.settle = settle
  }

  /** Whether it is available, apart from the waiters. */
  #fits(mode) {
    if (this.writer !== undefined) return false
    return mode === 'Read' ? this.upgrader === undefined : this.readers.length === 0
  }

  #enter({ id, mode }) {
    if (mode === 'Read') this.readers.push(id)
    else this.writer = id
    this.settle(id, 'in')
  }

  acquire(request) {
    const { id, mode, priority, until } = request
    const isForemost = this.queue.every((one) => one.priority < priority)
    if (this.#fits(mode) && isForemost && this.upgrader === undefined) return this.#enter(request)
    if (until === 0) return this.settle(id, 'late')
    const after = this.queue.findIndex((one) => one.priority < priority)
    this.queue.splice(after === -1 ? this.queue.length : after, 0, request)
  }

  /** Whether it is granted now. Behind a waiter it is not, even if it fits. */
  tryAcquire(id, mode) {
    if (!this.#fits(mode) || this.queue.length > 0 || this.upgrader !== undefined) return false
    this.#enter({ id, mode })
    return true
  }

  upgrade({ id, reader, until }) {
    if (this.upgrader !== undefined) return this.settle(id, 'refused')
    this.upgrader = { id, reader, until }
    this.#letIn()
    if (this.upgrader !== undefined && until === 0) this.giveUp((one) => one.id === id, 'late')
  }

  tryUpgrade(id, reader) {
    if (this.upgrader !== undefined || this.readers.length > 1) return false
    this.upgrade({ id, reader, until: Infinity })
    return true
  }

  /** Ends the grant of `id`; does nothing if it has ended. */
  release(id) {
    if (this.upgrader?.reader === id) this.giveUp((one) => one.reader === id, 'notHeld')
    if (this.writer === id) this.writer = undefined
    else if (this.readers.includes(id)) this.readers = this.readers.filter((one) => one !== id)
    else return
    this.#letIn()
  }

  downgrade(from, to) {
    if (this.writer !== from) throw new Error(`${from} does not write`)
    this.writer = undefined
    this.#enter({ id: to, mode: 'Read' })
    this.#letIn()
  }

  giveUp(match, reason) {
    const gone = this.waiting().filter(match)
    if (this.upgrader !== undefined && match(this.upgrader)) this.upgrader = undefined
    this.queue = this.queue.filter((one) => !match(one))
    for (const { id } of gone) this.settle(id, reason)
    this.#letIn()
  }

  waiting() {
    return this.upgrader === undefined ? this.queue : [this.upgrader, ...this.queue]
  }

  #letIn() {
    if (this.upgrader !== undefined && this.readers.length === 1) {
      const { id } = this.upgrader
      this.upgrader = undefined
      this.readers = []
      this.#enter({ id, mode: 'Write' })
    }
    while (this.queue.length > 0 && this.upgrader === undefined && this.#fits(this.queue[0].mode)) {
      this.#enter(this.queue.shift())
    }
  }
}

module.exports = { RWLockModel }
