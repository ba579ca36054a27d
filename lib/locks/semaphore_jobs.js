'use strict'
// Functions and lists of jobs that acquire units of a semaphore for each call.
const { abort, following, listen, reasonOf, throwIfAborted } = require('../core/abort.js')
const { checkCallback, checkObject } = require('../core/options.js')
const { unseen } = require('../core/releaser.js')
const { readAcquire, readWatch } = require('../core/units.js')
const { isObject } = require('./receiver.js')

/** `fn`, with the units of `options` acquired for each call. */
function limited(lock, fn, options = {}) {
  checkCallback(fn)
  if (options === null || typeof options !== 'object') {
    throw new TypeError('limit(fn) returns a function: pass the arguments to it')
  }
  readAcquire(options)
  return function (...args) {
    return lock.runExclusive(() => fn.apply(this, args), options)
  }
}

/** Resolves to the results of `fn(item, { index, signal })`, in the order of the items. */
async function mapped(lock, iterable, fn, options = {}) {
  checkCallback(fn)
  checkObject(options)
  const { weight, limits } = readWatch(options)
  const items = new Items(iterable)
  const { controller, end } = following(limits.signal === undefined ? [] : [limits.signal])
  const { signal } = controller
  const results = []
  const running = new Set()
  let failure

  function fail(error) {
    if (signal.aborted) return
    failure = { error }
    abort(controller, error)
  }

  /** Over an engine a job has a lease of its own, and its signal aborts with the lease. */
  async function run(item, index, release) {
    const job = release.signal === undefined ? undefined : following([signal, release.signal])
    try {
      results[index] = await fn(item, { index, signal: job?.controller.signal ?? signal })
    } catch (error) {
      fail(error)
    } finally {
      job?.end()
      release()
    }
  }

  try {
    for (let index = 0; ; index++) {
      // Read the item first: a slow iterable must not hold units.
      const { done, item } = await items.next(signal)
      if (done) break
      // One job at most waits, so it is never refused.
      const [, release] = await lock.acquire({ ...limits, weight, signal, maxPending: Infinity })
      if (signal.aborted) {
        // No job began, so the next grant reports the death that this grant reports.
        const giveBack = release[unseen] ?? release
        giveBack()
        break
      }
      const job = run(item, index, release).then(() => running.delete(job))
      running.add(job)
    }
  } catch (error) {
    fail(error)
  }
  if (signal.aborted) await items.close()
  await Promise.all(running)
  end()
  if (failure !== undefined) throw failure.error
  throwIfAborted(signal)
  return results
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

  /** The next item, unless `signal` aborts first. */
  next(signal) {
    throwIfAborted(signal)
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(reasonOf(signal))
      const listening = listen(signal, onAbort)
      this.#read()
        .then(async ({ done, value }) => ({ done, item: await value }))
        .then(resolve, reject)
        .finally(() => listening.stop(onAbort))
    })
  }

  async #read() {
    this.#state = 'reading'
    let isOpen = false
    try {
      const result = await this.#iterator.next()
      if (!isObject(result)) {
        throw new TypeError('map(): next() of the iterator must give an object')
      }
      const { done, value } = result
      isOpen = !done
      return { done, value }
    } finally {
      this.#state = isOpen ? 'open' : 'ended'
    }
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

module.exports = { limited, mapped }
