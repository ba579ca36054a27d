'use strict'

/** An AbortSignal that is made when it is first read: few callers read the signal of their grant. */
class LazySignal {
  #controller
  #reason

  get signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  abort(reason) {
    this.#reason ??= reason
    this.#controller?.abort(reason)
  }
}

module.exports = { LazySignal }
