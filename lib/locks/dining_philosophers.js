'use strict'
// Dining philosophers over a keyed mutex: fork i is the key i. Each philosopher takes its two forks in one fixed order
// (lib/locks/many.js), so that no two wait for each other. Names, limits and the death of a holder work as for any
// keyed mutex.
const { LocalMutex } = require('../core/mutex.js')
const { lockError } = require('../core/errors.js')
const { checkInteger } = require('../core/integers.js')
const { nameOf } = require('../core/keys.js')
const { blockingMapOf, mapOf, withMapDefaults } = require('./base.js')
const { blockingLimits, Keyed } = require('./keyed.js')
const { lockOptionsWithDefaults } = require('../options/lock_options.js')
const { acquireOneOrMany, acquireSyncOneOrMany, tryOneOrMany } = require('./many.js')
const {
  acquireOptions,
  isObject,
  readWait,
  refuseOptions,
  surplusError,
} = require('../core/options.js')
const { receiverError } = require('../core/receiver.js')
const { makeReleaser } = require('../core/releaser.js')
const { checkStack } = require('../core/stack.js')
const { now, run, runSync, tryRun } = require('../core/run.js')

const maxSeats = 2 ** 31 - 1

// The class has no cancel(), and so no option `cancelError`.
const known = new Set(lockOptionsWithDefaults)
known.delete('cancelError')

/** The kind of the forks. Not that of KeyedMutex, because a KeyedMutex of the same name is a different lock. */
const forks = {
  known,
  class: 'DiningPhilosophers',
  name: 'dining philosopher',
  local: () => new LocalMutex(),
  atRest: [],
}

const acquire = (lock, limits) => lock.acquire(limits)
const acquireSync = (lock, limits) => lock.acquireSync(limits)
const tryAcquire = (lock) => lock.tryAcquire()

/** Returns the philosophers of this thread that eat with these forks. All objects of one table share them. */
function eatersAt(map, seats) {
  const { name } = map
  map.titleOf = (key) => `fork ${key} of ${titleOf(name)}`
  // This table in C++ has no keys. Other threads compare their number of seats with the one in it.
  if (name !== undefined) map.openTable('dining philosophers', seats, titleOf(name))
  map.eaters ??= new Map()
  return map.eaters
}

/** Throws unless `it`, the `this` of `method`, is a DiningPhilosophers. */
let check

class DiningPhilosophers {
  #seats
  #forks
  /** By seat: the releaser of the philosopher that eats there. */
  #eaters

  static {
    check = (it, method) => {
      if (!(isObject(it) && #seats in it)) {
        throw receiverError({ class: 'DiningPhilosophers' }, method, it)
      }
    }
  }

  constructor(seats, options = {}) {
    checkInteger('seats', seats, 1, maxSeats)
    this.#seats = seats
    this.#forks = new Keyed(forks, options)
    this.#eaters = eatersAt(mapOf(this.#forks, forks), seats)
  }

  get seats() {
    check(this, 'seats')
    return this.#seats
  }

  begin(seat, options) {
    check(this, 'begin')
    const pair = this.#forksAt(seat)
    const map = mapOf(this.#forks, forks)
    const late = this.#lateAt(seat)
    const limits = readWait(withMapDefaults(this.#forks, options), acquireOptions)
    const held = acquireOneOrMany(map, pair, limits, acquire, () => late)
    return held.then((release) => release && this.#sit(seat, release))
  }

  beginSync(seat, options) {
    check(this, 'beginSync')
    const map = blockingMapOf(this.#forks, forks, 'beginSync')
    const pair = this.#forksAt(seat)
    const limits = blockingLimits(this.#forks, options)
    return this.#sit(seat, acquireSyncOneOrMany(map, pair, limits, acquireSync, this.#lateAt(seat)))
  }

  tryBegin(seat, given) {
    check(this, 'tryBegin')
    refuseOptions(given)
    const held = tryOneOrMany(mapOf(this.#forks, forks), this.#forksAt(seat), tryAcquire)
    return held === undefined ? undefined : this.#sit(seat, held)
  }

  end(seat) {
    check(this, 'end')
    this.#check(seat)
    const release = this.#eaters.get(seat)
    if (release === undefined) {
      const message = `philosopher ${seat} of ${this.#title()} does not hold its forks in this thread: call its releaser, once`
      throw lockError('ERR_LOCK_NOT_HELD', message)
    }
    release()
  }

  runExclusive(seat, callback, options, surplus) {
    check(this, 'runExclusive')
    if (surplus !== undefined) return Promise.reject(surplusError())
    return run(callback, () => this.begin(seat, options), undefined, options)
  }

  tryRunExclusive(seat, callback, surplus) {
    check(this, 'tryRunExclusive')
    return tryRun(callback, (given) => this.runExclusive(seat, given, now, surplus))
  }

  runExclusiveSync(seat, callback, options) {
    check(this, 'runExclusiveSync')
    return runSync(callback, () => this.beginSync(seat, options))
  }

  #sit(seat, held) {
    const eaters = this.#eaters
    const release = () => {
      if (eaters.get(seat) !== release) return
      checkStack()
      eaters.delete(seat)
      held()
    }
    eaters.set(seat, release)
    return makeReleaser(release, held.abandoned)
  }

  #forksAt(seat) {
    this.#check(seat)
    return [seat, (seat + 1) % this.#seats]
  }

  #check(seat) {
    checkInteger('a seat', seat, 0, this.#seats - 1)
  }

  #lateAt(seat) {
    return (_, timeout) => {
      const message = `philosopher ${seat} of ${this.#title()} did not get its forks within ${Math.round(timeout)} ms`
      return lockError('ERR_LOCK_TIMEOUT', message)
    }
  }

  #title() {
    return titleOf(mapOf(this.#forks, forks).name)
  }
}

function titleOf(name) {
  return name === undefined ? 'the dining philosophers' : `the dining philosophers ${nameOf(name)}`
}

module.exports = { DiningPhilosophers }
