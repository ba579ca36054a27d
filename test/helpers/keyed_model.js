'use strict'
// A model of KeyedMutex. A request is { id, key, priority, until }; `settle(id, how)` ends it.
class KeyedModel {
  #keys = new Map()
  constructor(settle) {
    this.settle = settle
  }

  #at(key) {
    return this.#keys.get(key) ?? { holder: undefined, queue: [], watchers: [] }
  }

  #ask(request, queue, atOnce) {
    const state = this.#at(request.key)
    if (state.holder === undefined) return this.settle(request.id, atOnce)
    if (request.until === 0) return this.settle(request.id, 'late')
    const after = state[queue].findIndex(({ priority }) => priority < request.priority)
    state[queue].splice(after === -1 ? state[queue].length : after, 0, request)
  }

  acquire(request) {
    this.#ask(request, 'queue', 'in')
    if (this.#keys.has(request.key)) return
    this.#keys.set(request.key, { holder: request.id, queue: [], watchers: [] })
  }

  waitForUnlock(request) {
    this.#ask(request, 'watchers', 'told')
  }

  release(key, id = this.#at(key).holder) {
    const state = this.#at(key)
    if (state.holder === undefined || state.holder !== id) return
    const next = state.queue.shift()
    const stay = ({ priority }) => next !== undefined && priority <= next.priority
    for (const { id } of state.watchers.filter((one) => !stay(one))) this.settle(id, 'told')
    state.watchers = state.watchers.filter(stay)
    state.holder = next?.id
    if (next === undefined) this.#keys.delete(key)
    else this.settle(next.id, 'in')
  }

  cancel(key, reason) {
    for (const { id } of this.#at(key).queue.splice(0)) this.settle(id, reason)
  }

  giveUp(match, reason) {
    for (const state of this.#keys.values()) {
      const gone = [...state.queue, ...state.watchers].filter(match)
      for (const queue of ['queue', 'watchers'])
        state[queue] = state[queue].filter((one) => !match(one))
      for (const { id } of gone) this.settle(id, reason)
    }
  }

  snapshot() {
    return [...this.#keys].map(([key, { queue }]) => ({ key, locked: true, waiting: queue.length }))
  }
}

module.exports = { KeyedModel }
