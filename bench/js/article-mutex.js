// The mutex of V8's article on Atomics.waitAsync (v8.dev/features/atomics), written from its
// description, with the recommended third state: "locked" without and "locked" with contention, so
// that unlock notifies only if a thread may wait.
const unlocked = 0
const locked = 1
const contended = 2

class ArticleMutex {
  #words

  constructor(buffer) {
    this.#words = new Int32Array(buffer)
  }

  /** Blocks this thread. */
  lock() {
    if (this.#take()) return
    while (this.#takeContended()) Atomics.wait(this.#words, 0, contended)
  }

  async lockAsync() {
    if (this.#take()) return
    while (this.#takeContended()) await Atomics.waitAsync(this.#words, 0, contended).value
  }

  async executeLocked(callback) {
    await this.lockAsync()
    try {
      return await callback()
    } finally {
      this.unlock()
    }
  }

  unlock() {
    const before = Atomics.exchange(this.#words, 0, unlocked)
    if (before === unlocked) throw new Error('unlock of a mutex without a holder')
    if (before === contended) Atomics.notify(this.#words, 0, 1)
  }

  #take() {
    return Atomics.compareExchange(this.#words, 0, unlocked, locked) === unlocked
  }

  /**
   * False when it was free and this thread now holds it. A thread that has waited cannot know
   * whether others still wait.
   */
  #takeContended() {
    return Atomics.exchange(this.#words, 0, contended) !== unlocked
  }
}

module.exports = { ArticleMutex }
