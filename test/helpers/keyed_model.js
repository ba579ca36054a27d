'use strict'
// What a KeyedMutex must do. A request is { id, key, priority, until }; `settle(id, how)` ends it.
class KeyedModel {
  #keys = new Map()
  constructor(settle) {
    this.settle = settle
  }

  #at(key) {
    return this.#keys.get(key) ?? { holder: undefined, line: [], watchers: [] }
  }

  #ask(request, line, atOnce) {
    const state = this.#at(request.key)
    if (state.holder === undefined) return this.settle(request.id, atOnce)
    if (request.until === 0) return this.settle(request.id, 'late')
    const after = state[line].findIndex(({ priority }) => priority < request.priority)
    state[line].splice(after === -1 ? state[line].length : after, 0, request)
  }

  acquire(request) {
    this.#ask(request, 'line', 'in')
    if (this.#keys.has(request.key)) return
    this.#keys.set(request.key, { holder: request.id, line: [], watchers: [] })
  }

  waitForUnlock(request) {
    this.#ask(request, 'watchers', 'told')
  }

  release(key, id = this.#at(key).holder) {
    const state = this.#at(key)
    if (state.holder === undefined || state.holder !== id) return
    const next = state.line.shift()
    const stay = ({ priority }) => next !== undefined && priority <= next.priority
    for (const { id } of state.watchers.filter((one) => !stay(one))) this.settle(id, 'told')
    state.watchers = state.watchers.filter(stay)
    state.holder = next?.id
    if (next === undefined) this.#keys.delete(key)
    else this.settle(next.id, 'in')
  }

  cancel(key, reason) {
    for (const { id } of this.#at(key).line.splice(0)) this.settle(id, reason)
  }

  giveUp(match, reason) {
    for (const state of this.#keys.values()) {
      const gone = [...state.line, ...state.watchers].filter(match)
      for (const line of ['line', 'watchers'])
        state[line] = state[line].filter((one) => !match(one))
      for (const { id } of gone) this.settle(id, reason)
    }
  }

  snapshot() {
    return [...this.#keys].map(([key, { line }]) => ({ key, locked: true, waiting: line.length }))
  }
}

module.exports = { KeyedModel }
