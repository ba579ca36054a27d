// The floor of the works of one thread: the least code that still does each, with the promise, the closure and the Map's
// operations that its result needs. It admits first come, first served, and has no options, no checks and no errors.

const done = Promise.resolve()

/** Units for callers, a queue of resolve functions, and nothing else. */
class Bare {
  #units
  #waiters = []
  #next = 0

  constructor(units) {
    this.#units = units
  }

  get isIdle() {
    return this.#units === 1
  }

  enter() {
    if (this.#units === 0) return new Promise((resolve) => this.#waiters.push(resolve))
    this.#units--
    return done
  }

  leave() {
    if (this.#next === this.#waiters.length) {
      this.#units++
      return
    }
    const resolve = this.#waiters[this.#next]
    this.#waiters[this.#next++] = undefined
    if (this.#next === this.#waiters.length) {
      this.#waiters = []
      this.#next = 0
    }
    resolve()
  }

  /** enter() that gives `value`: a promise of its own for each caller. */
  give(value) {
    const entered = this.enter()
    return entered === done ? Promise.resolve(value) : entered.then(() => value)
  }

  async run(callback) {
    await this.enter()
    try {
      return await callback()
    } finally {
      this.leave()
    }
  }
}

/** A Bare for each key that is in use. */
class BareMap {
  #locks = new Map()

  open(key) {
    let lock = this.#locks.get(key)
    if (lock === undefined) {
      lock = new Bare(1)
      this.#locks.set(key, lock)
    }
    return lock
  }

  leave(key, lock) {
    lock.leave()
    if (lock.isIdle) this.#locks.delete(key)
  }
}

function floorForms({ permits, limited }) {
  const create = () => new Bare(1)
  const leave = (lock) => lock.leave()
  const pair = { create, enter: (lock) => lock.enter(), leave }
  const run = (lock, callback) => lock.run(callback)
  const keyed = () => new BareMap()
  return {
    pair,
    releaser: {
      create,
      enter: (lock) => lock.give(() => lock.leave()),
      leave: (_lock, release) => release(),
    },
    run: { create, run },
    semaphore: {
      permits,
      create: () => new Bare(permits),
      enter: (lock) => lock.give([permits, () => lock.leave()]),
      leave: (_lock, [, release]) => release(),
    },
    keyed: {
      create: keyed,
      enter: (map, key) => {
        const lock = map.open(key)
        return lock.give(() => map.leave(key, lock))
      },
      leave: (_map, release) => release(),
    },
    keyedRun: {
      create: keyed,
      run: async (map, callback, key) => {
        const lock = map.open(key)
        await lock.enter()
        try {
          return await callback()
        } finally {
          map.leave(key, lock)
        }
      },
    },
    line: pair,
    limit: { permits: limited, create: () => new Bare(limited), run },
  }
}

module.exports = { floorForms }
