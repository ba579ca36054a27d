'use strict'
// Scripts of callers' operations on a lock, played on any lock with the API of async-mutex. The
// visible results are recorded and compared.
const fc = require('fast-check')
const { turn } = require('./promises.js')

const weight = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(undefined, 1, 2, 3) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1) },
)
const priority = fc.constantFrom(undefined, undefined, 0, 1, -1, 2, 0.5)
const endings = fc.constantFrom('return', 'throw', 'reject', 'hold')
const which = fc.nat(20)
const op = (name, ...args) => fc.tuple(fc.constant(name), ...args)

/** `ending` is how callbacks of runExclusive may end; holding means ending by a later step. */
function steps(weighted, ending = endings) {
  const how = weighted ? [weight, priority] : [priority]
  const kinds = [
    { weight: 8, arbitrary: op('acquire', ...how) },
    { weight: 4, arbitrary: op('run', ending, ...how) },
    { weight: 3, arbitrary: op('waitForUnlock', ...how) },
    { weight: 6, arbitrary: op('releaser', which) },
    { weight: 2, arbitrary: op('finish', which, fc.boolean()) },
    { weight: 2, arbitrary: op('release', ...(weighted ? [weight] : [])) },
    { weight: 1, arbitrary: op('cancel') },
    { weight: 6, arbitrary: op('turn') },
    { weight: 2, arbitrary: op('microtask') },
  ]
  if (weighted)
    kinds.push({ weight: 1, arbitrary: op('setValue', fc.integer({ min: -3, max: 6 })) })
  return fc.array(fc.oneof(...kinds), { maxLength: 40, size: 'max' })
}

class Player {
  #lock
  #isWeighted
  #mode
  #events = []
  #releasers = []
  /** Releasers received in earlier turns. */
  #usable = 0
  #gates = []
  #running = 0
  /**
   * Calls of runExclusive that have not settled: they do so after as many microtasks as the lock
   * needs.
   */
  #runs = 0
  log = []

  /**
   * Mode `inOrder`: the order of all events counts, not just among events of one kind. Mode
   * `inTurns`: every microtask runs before the next step.
   */
  constructor(lock, isWeighted, mode) {
    this.#lock = lock
    this.#isWeighted = isWeighted
    this.#mode = mode
  }

  async play(script) {
    for (const [i, [name, ...args]] of script.entries()) {
      try {
        // Steps that need not wait follow each other within one microtask.
        const later = this[name](i, ...args)
        if (later !== undefined) await later
        if (this.#mode.inTurns) await this.turn()
      } catch (error) {
        this.log.push(`${i} throws ${error.message}`)
      }
      this.#look()
    }
    await this.turn()
    this.#look()
    return this.log
  }

  acquire(i, ...how) {
    this.#note('acquire', i, this.#lock.acquire(...how), (given) => {
      const [value, releaser] = this.#isWeighted ? given : [undefined, given]
      this.#releasers.push(releaser)
      return value
    })
  }

  run(i, ending, ...how) {
    this.#runs++
    const callback = (...args) => {
      // This library passes one more argument, the grant.
      this.#events.push(['call', i, args.slice(0, this.#isWeighted ? 1 : 0)])
      if (ending === 'throw') throw new Error('thrown')
      if (ending === 'reject') return Promise.reject(new Error('rejected'))
      if (ending === 'return') return i
      this.#running++
      return new Promise((resolve, reject) => this.#gates.push({ resolve, reject }))
    }
    const over = () => this.#runs--
    const promise = this.#lock.runExclusive(callback, ...how)
    promise.then(over, over)
    this.#note('run', i, promise, (value) => value)
  }

  waitForUnlock(i, ...how) {
    this.#note('waitForUnlock', i, this.#lock.waitForUnlock(...how), (value) => value)
  }

  releaser(_i, which) {
    if (this.#usable > 0) this.#releasers[which % this.#usable]()
  }

  finish(i, which, well) {
    if (this.#gates.length === 0) return
    this.#running--
    const [{ resolve, reject }] = this.#gates.splice(which % this.#gates.length, 1)
    if (well) resolve(i)
    else reject(new Error('failed'))
  }

  release(_i, ...how) {
    return this.#isWeighted ? this.#lock.release(...how) : this.#releaseMutex()
  }

  /** The deliberate difference: its holder must never call its releaser, or end, afterwards. */
  async #releaseMutex() {
    await this.turn()
    if (this.#running > 0) return
    this.#releasers.fill(() => {})
    this.#lock.release()
  }

  setValue(_i, value) {
    this.#lock.setValue(value)
  }

  cancel() {
    this.#lock.cancel()
    // The third difference: async-mutex resolves callers of waitForUnlock by the next change only.
    if (this.#isWeighted) this.#lock.setValue(this.#lock.getValue())
  }

  microtask() {
    return this.#runs > 0 ? undefined : Promise.resolve()
  }

  /** Resolves when all microtasks have run. */
  async turn() {
    await turn()
    this.#usable = this.#releasers.length
    this.log.push(...this.#told())
    this.#events = []
  }

  #look() {
    const value = this.#isWeighted ? this.#lock.getValue() : 'none'
    this.log.push(`locked ${this.#lock.isLocked()}, value ${value}`)
  }

  #note(kind, i, promise, read) {
    promise.then(
      (value) => this.#events.push([kind, i, read(value)]),
      ({ message }) => this.#events.push([`${kind}!`, i, message]),
    )
  }

  #told() {
    const told = this.#events.map((event) => event.join(' '))
    return this.#mode.inOrder ? told : told.sort(byKind)
  }
}

/** runExclusive's promises, each after so many microtasks of its own, may settle in any order. */
function byKind(a, b) {
  const [kindOfA] = a.split(' ')
  const [kindOfB] = b.split(' ')
  if (kindOfA !== kindOfB) return kindOfA < kindOfB ? -1 : 1
  if (!kindOfA.startsWith('run')) return 0
  return a < b ? -1 : 1
}

module.exports = { Player, steps }
