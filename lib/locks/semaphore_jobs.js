'use strict'
// limit() and map() of semaphores: functions and jobs that acquire units for each call.
const { abort, listen, reasonOf, throwIfAborted } = require('../core/abort.js')
const { following } = require('../core/following.js')
const { checkCallback, checkObject, isObject } = require('../core/options.js')
const platform = require('../core/platform.js')
const { giveBackUndelivered } = require('../core/releaser.js')
const { Call } = require('../core/semaphore.js')
const { readAcquire, readWatch } = require('../core/units.js')
const { completed } = require('../core/wait_defaults.js')

// `open()` returns the semaphore's lock, or for a closed semaphore a stand-in that rejects every caller. `defaults` are
// the wait options given to the constructor.

/** Returns a function that calls `fn` while it holds the units of `options`. */
function limited(open, defaults, fn, options = {}) {
  checkCallback(fn)
  if (!isObject(options)) {
    throw new TypeError('limit(fn) returns a function: pass the arguments to it')
  }
  const asked = readAcquire(options, defaults && completed(undefined, defaults))
  const { weight, limits } = asked
  return async function (...args) {
    const lock = open()
    if (!lock.isBare) return calledWithTicket(lock, asked, fn, this, args)
    if ((await lock.enter(weight, limits, Call)) === undefined) return undefined
    try {
      return await fn.apply(this, args)
    } finally {
      lock.giveBack(weight)
    }
  }
}

/** A function of its own, because a closure in limited() would make each call slower. */
const calledWithTicket = (lock, asked, fn, receiver, args) =>
  lock.runWithUnits(asked, () => fn.apply(receiver, args))

/** Resolves to the results of `fn(item, { index, signal })`, in the order of the items. */
async function mapped(open, defaults, iterable, fn, options = {}) {
  checkCallback(fn)
  checkObject(options)
  const { weight, limits } = readWatch(options, defaults && completed(undefined, defaults))
  const items = new Items(iterable)
  const jobs = new Jobs(fn, limits.signal)
  const { signal } = jobs
  // At most one job waits, so `maxPending` does not apply.
  const asked = { weight, limits: { ...limits, signal, maxPending: Infinity } }
  try {
    for (let index = 0; ; index++) {
      // Read the item first: a slow iterable must not hold units.
      const next = items.next(signal)
      const { done, item } = isThenable(next) ? await next : next
      if (done) break
      const [, release] = await open().acquireUnits(asked)
      if (signal.aborted) {
        // The job has not begun. If its grant reports a death, the next grant must report it.
        giveBackUndelivered(release)
        break
      }
      jobs.begin(item, index, release)
    }
  } catch (error) {
    jobs.fail(error)
  }
  if (signal.aborted) await items.close()
  return jobs.ended()
}

const none = () => {}

/** The jobs of one map(). */
class Jobs {
  #call
  #following
  #listening
  #results = []
  #running = 0
  #failure
  /** Resolves the promise that ended() waits for. */
  #resolve = none
  /** Aborts when a job, the iterable or a wait fails. */
  signal

  constructor(fn, signal) {
    this.#call = (item, job) => fn(item, job)
    this.#following = following([signal])
    this.signal = this.#following.controller.signal
    platform.expectListeners(this.signal)
    // This listener stays. Without it each wait would add one to the signal and remove it, which takes microseconds.
    this.#listening = listen(this.signal, none)
  }

  fail(error) {
    if (this.signal.aborted) return
    this.#failure = { error }
    abort(this.#following.controller, error)
  }

  /** Runs a job. Over an engine each job has its own lease, and its signal also aborts when it loses the lease. */
  async begin(item, index, release) {
    this.#running++
    const { signal } = this
    const own = release.signal === undefined ? undefined : following([signal, release.signal])
    try {
      const job = { index, signal: own?.controller.signal ?? signal }
      this.#results[index] = await this.#call(item, job)
    } catch (error) {
      this.fail(error)
    } finally {
      own?.end()
      this.#end(release)
    }
  }

  /** Ends a job. Its release throws if setValue() has left no room for its units. */
  #end(release) {
    try {
      release()
    } catch (error) {
      this.fail(error)
    }
    this.#running--
    if (this.#running === 0) this.#resolve()
  }

  /** Resolves to the results when all jobs have ended. */
  async ended() {
    if (this.#running > 0) {
      await new Promise((resolve) => {
        this.#resolve = resolve
      })
    }
    this.#listening.stop(none)
    this.#following.end()
    if (this.#failure !== undefined) throw this.#failure.error
    throwIfAborted(this.signal)
    return this.#results
  }
}

/** The items of an iterable or an async iterable. */
class Items {
  #iterator
  /** 'open', 'reading' or 'ended'. */
  #state = 'open'

  constructor(iterable) {
    const iterate = iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator]
    this.#iterator = typeof iterate === 'function' ? iterate.call(iterable) : undefined
    if (typeof this.#iterator?.next === 'function') return
    throw new TypeError('map() takes an iterable, sync or async')
  }

  /**
   * Returns the next `{ done, item }`, or a promise for it, which rejects if `signal` aborts first. Returns no promise
   * for a plain iterable, because that would cost more than the job.
   */
  next(signal) {
    throwIfAborted(signal)
    this.#state = 'ended'
    const result = this.#iterator.next()
    if (isThenable(result)) return unlessAborted(signal, this.#later(result))
    const read = this.#itemOf(result)
    return isThenable(read.item) ? unlessAborted(signal, awaited(read)) : read
  }

  async #later(result) {
    this.#state = 'reading'
    try {
      // Not awaited here: the iteration goes on if an item rejects.
      return awaited(this.#itemOf(await result))
    } catch (error) {
      this.#state = 'ended'
      throw error
    }
  }

  #itemOf(result) {
    if (!isObject(result)) {
      throw new TypeError('map(): next() of the iterator must give an object')
    }
    const { done, value } = result
    this.#state = done ? 'ended' : 'open'
    return { done, item: value }
  }

  /**
   * Ends the iteration early, as `for await` does. Ignores an error of return(), because the error that ended the
   * iteration wins.
   */
  async close() {
    if (this.#state === 'ended') return
    const closing = this.#return().catch(none)
    // A generator that is producing an item closes only afterwards, perhaps never. Do not wait for that.
    if (this.#state === 'open') await closing
  }

  async #return() {
    await this.#iterator.return?.()
  }
}

const awaited = async ({ done, item }) => ({ done, item: await item })

/** Settles as `promise` does, or rejects if `signal` aborts first. */
function unlessAborted(signal, promise) {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(reasonOf(signal))
    const listening = listen(signal, onAbort)
    promise.then(resolve, reject).finally(() => listening.stop(onAbort))
  })
}

const isThenable = (value) => typeof value?.then === 'function'

module.exports = { limited, mapped }
