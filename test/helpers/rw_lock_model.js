'use strict'
// What an RWLock must do, in arrays: who has it, who waits. A request is { id, mode, priority, until };
// `settle(id, how)` ends it.
class RWLockModel {
  /** Ids of those who are in. */
  readers = []
  writer = undefined
  /** Highest priority first, then in the order in which they came. */
  line = []
  /** The one that upgrades: before the line. { id, reader, until }, `reader` being whose grant it is. */
  upgrader = undefined

  constructor(settle) {
    this.settle = settle
  }

  /** Whether it could be had, but for those who wait. */
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
    const isForemost = this.line.every((one) => one.priority < priority)
    if (this.#fits(mode) && isForemost && this.upgrader === undefined) return this.#enter(request)
    if (until === 0) return this.settle(id, 'late')
    const after = this.line.findIndex((one) => one.priority < priority)
    this.line.splice(after === -1 ? this.line.length : after, 0, request)
  }

  /** Whether it is in now: nobody may wait, whatever fits. */
  tryAcquire(id, mode) {
    if (!this.#fits(mode) || this.line.length > 0 || this.upgrader !== undefined) return false
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

  /** Of what `id` has been granted; nothing when that is over. */
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
    this.line = this.line.filter((one) => !match(one))
    for (const { id } of gone) this.settle(id, reason)
    this.#letIn()
  }

  waiting() {
    return this.upgrader === undefined ? this.line : [this.upgrader, ...this.line]
  }

  #letIn() {
    if (this.upgrader !== undefined && this.readers.length === 1) {
      const { id } = this.upgrader
      this.upgrader = undefined
      this.readers = []
      this.#enter({ id, mode: 'Write' })
    }
    while (this.line.length > 0 && this.upgrader === undefined && this.#fits(this.line[0].mode)) {
      this.#enter(this.line.shift())
    }
  }
}

module.exports = { RWLockModel }
