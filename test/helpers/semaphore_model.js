'use strict'

/** The simplest model of a Semaphore: arrays, and no promise. */
class SemaphoreModel {
  #queue = []
  #watchers = []
  #now = 0
  /** The results of promises, in order: [id, what, value]. */
  events = []
  /** Units that callers have taken and not put back. */
  out = 0

  constructor(value) {
    this.value = value
  }

  acquire(id, weight, priority, timeout) {
    const waiter = { id, weight, priority, deadline: this.#now + timeout }
    const first = this.#queue.findIndex((other) => other.priority < priority)
    const place = first === -1 ? this.#queue.length : first
    if (place === 0 && weight <= this.value) this.#admit(waiter)
    else if (timeout === 0) this.events.push([id, 'late'])
    else this.#queue.splice(place, 0, waiter)
  }

  waitForUnlock(id, weight, priority, timeout) {
    this.#watchers.push({ id, weight, priority, deadline: this.#now + timeout })
    this.#tell()
    if (timeout === 0) this.#leave(id, 'late')
  }

  release(weight) {
    this.out = Math.max(0, this.out - weight)
    this.setValue(this.value + weight)
  }

  isIdle() {
    return this.out === 0 && this.#queue.length === 0
  }

  setValue(value) {
    this.value = value
    this.#tell()
    while (this.#queue.length > 0 && this.#queue[0].weight <= this.value) {
      this.#admit(this.#queue.shift())
      this.#tell()
    }
  }

  cancel() {
    for (const { id } of this.#queue) this.#leave(id, 'canceled', true)
    this.setValue(this.value)
  }

  abort(id) {
    this.#leave(id, 'aborted')
  }

  tick(ms) {
    const end = this.#now + ms
    const due = [...this.#queue, ...this.#watchers].filter(({ deadline }) => deadline <= end)
    for (const { id, deadline } of due.sort((a, b) => a.deadline - b.deadline || a.id - b.id)) {
      this.#now = deadline
      this.#leave(id, 'late')
    }
    this.#now = end
  }

  #admit({ id, weight }) {
    this.events.push([id, 'admitted', this.value])
    this.value -= weight
    this.out += weight
  }

  /** Does nothing if it is not there any more. */
  #leave(id, why, quietly = false) {
    const stays = (waiter) => waiter.id !== id
    const before = this.#queue.length + this.#watchers.length
    this.#queue = this.#queue.filter(stays)
    this.#watchers = this.#watchers.filter(stays)
    if (this.#queue.length + this.#watchers.length === before) return
    this.events.push([id, why])
    if (!quietly) this.setValue(this.value)
  }

  #tell() {
    const top = this.#queue.length > 0 ? this.#queue[0].priority : -Infinity
    const told = this.#watchers.filter((w) => w.weight <= this.value && w.priority > top)
    this.#watchers = this.#watchers.filter((watcher) => !told.includes(watcher))
    told.sort((a, b) => b.weight - a.weight || b.priority - a.priority || a.id - b.id)
    for (const { id } of told) this.events.push([id, 'unlocked'])
  }
}

module.exports = { SemaphoreModel }
