'use strict'
// Functions and lists of jobs that acquire units of a semaphore for each call.
const { abort, listen, reasonOf, throwIfAborted } = require('../core/abort.js')
const { following } = require('../core/following.js')
const { checkCallback, checkObject, isObject } = require('../core/options.js')
const platform = require('../core/platform.js')
const { giveBackUndelivered } = require('../core/releaser.js')
const { readAcquire, readWatch } = require('../core/units.js')
const { acquiringUnits, waitingUnits } = require('../options/unit_defaults.js')

// `open()` returns the semaphore's lock, or for a closed semaphore a stand-in that refuses every caller. `defaults` are the
// constructor's.

/** `fn`, with the units of `options` acquired for each call. */
function limited(open, defaults, fn, options = {}) {
  checkCallback(fn)
  if (!isObject(options)) {
    throw new TypeError('limit(fn) returns a function: pass the arguments to it')
  }
  const asked = readAcquire(acquiringUnits(defaults, options))
  return function (...args) {
    return open().callWithUnits(asked, fn, this, args)
  }
}

/** Resolves to the results of `fn(item, { index, signal })`, in the order of the items. */
async function mapped(open, defaults, iterable, fn, options = {}) {
  checkCallback(fn)
  checkObject(options)
  const { weight, limits } = readWatch(waitingUnits(defaults, options))
  const items = new Items(iterable)
  const jobs = new Jobs(fn, limits.signal)
  const { signal } = jobs
  // One job at most waits, so it is never refused.
  const asked = { weight, limits: { ...limits, signal, maxPending: Infinity } }
  try {
    for (let index = 0; ; index++) {
      // Read the item first: a slow iterable must not hold units.
      const next = items.next(signal)
      const { done, item } = isThenable(next) ? await next : next
      if (done) break
      const [, release] = await open().acquireUnits(asked)
      if (signal.aborted) {
        // No job began, so the next grant reports the death that this grant reports.
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
  /** Ends the wait for the last of them. */
  #resolve = none
  /** Aborts with the first failure. */
  signal

  constructor(fn, signal) {
    this.#call = (item, job) => fn(item, job)
    this.#following = following(signal === undefined ? [] : [signal])
    this.signal = this.#following.controller.signal
    platform.expectListeners(this.signal)
    // Without a listener that stays, each wait would add one to the signal and remove it, which costs microseconds.
    this.#listening = listen(this.signal, none)
  }

  fail(error) {
    if (this.signal.aborted) return
    this.#failure = { error }
    abort(this.#following.controller, error)
  }

  /** Over an engine a job has a lease of its own, and its signal aborts with the lease. */
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

  /** A job has ended. setValue() may have left no room for its units. */
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
   * The next `{ done, item }`, or a promise for it, which rejects when `signal` aborts first. A promise for each item of a
   * plain iterable would cost more than its job.
   */
  next(signal) {
    throwIfAborted(signal)
    this.#state = 'ended'
    const result = this.#iterator.next()
    const read = isThenable(result) ? this.#later(result) : this.#itemOf(result)
    if (isThenable(read)) return unlessAborted(signal, read.then(awaited))
    return isThenable(read.item) ? unlessAborted(signal, awaited(read)) : read
  }

  async #later(result) {
    this.#state = 'reading'
    try {
      return this.#itemOf(await result)
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
   * Ends the iteration early, as `for await` does: the error that ended it wins over an error of
   * return().
   */
  async close() {
    if (this.#state === 'ended') return
    const closing = this.#return().then(undefined, () => {})
    // A generator that is producing an item closes only after it, perhaps never.
    if (this.#state === 'open') await closing
  }

  async #return() {
    await this.#iterator.return?.()
  }
}

const awaited = async ({ done, item }) => ({ done, item: await item })

/** `promise`, unless `signal` aborts first. */
function unlessAborted(signal, promise) {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(reasonOf(signal))
    const listening = listen(signal, onAbort)
    promise.then(resolve, reject).finally(() => listening.stop(onAbort))
  })
}

const isThenable = (value) => typeof value?.then === 'function'

module.exports = { limited, mapped }
