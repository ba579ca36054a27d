'use strict'
// Functions, and lists of jobs, that take units of a semaphore for each call.
const { following, listen } = require('../core/abort.js')
const { checkCallback, checkObject } = require('../core/options.js')
const { unseen } = require('../core/releaser.js')
const { readAcquire, readWatch } = require('../core/units.js')

/** `fn` with the units of `options` for each call, which is a wait of its own. */
function limited(lock, fn, options = {}) {
  checkCallback(fn)
  checkObject(options)
  readAcquire(options)
  return function (...args) {
    return lock.runExclusive(() => fn.apply(this, args), options)
  }
}

/** A promise of what `fn(item, { index, signal })` gives for each item, in the order of the items. */
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
    controller.abort(error)
  }

  /** Over an engine a job has a lease of its own, and hears of its loss. */
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
      // The item first: a slow iterable holds no units.
      const { done, item } = await items.next(signal)
      if (done) break
      const [, release] = await lock.acquire({ ...limits, weight, signal })
      if (signal.aborted) {
        // No job began: of a death that the grant tells of the next one is told.
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
  signal.throwIfAborted()
  return results
}

/** The items of an iterable, or of an async one. */
class Items {
  #iterator
  /** 'open', 'reading' or 'ended'. */
  #state = 'open'

  constructor(iterable) {
    const iterate = iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator]
    if (typeof iterate !== 'function') throw new TypeError('map() takes an iterable, sync or async')
    this.#iterator = iterate.call(iterable)
  }

  /** The next one, unless `signal` aborts first. */
  next(signal) {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason)
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
      const { done, value } = await this.#iterator.next()
      isOpen = !done
      return { done, value }
    } finally {
      this.#state = isOpen ? 'open' : 'ended'
    }
  }

  /** Ends it early, as `for await` does: an error of return() gives way to the one that ended it. */
  async close() {
    if (this.#state === 'ended') return
    const closing = this.#return().then(undefined, () => {})
    // An async generator closes after the item that it is about to give, which may never come.
    if (this.#state === 'open') await closing
  }

  async #return() {
    await this.#iterator.return?.()
  }
}

module.exports = { limited, mapped }
