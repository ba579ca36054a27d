'use strict'
// Acquires one key of a keyed lock, or several at once. Every caller takes several keys in the same order, so that no
// two callers wait for each other.
const { throwIfAborted } = require('../core/abort.js')
const { following, withDeadline } = require('../core/following.js')
const platform = require('../core/platform.js')
const { lockError } = require('../core/errors.js')
const { checkKey, nameOf } = require('../core/keys.js')
const { acquireOptions, readWait, refuseNumber } = require('../core/options.js')
const { defineLazy, giveBackUndelivered, makeReleaser } = require('../core/releaser.js')

/** Returns each key of `map` once, in an order that depends only on the keys. */
function inOrder(keys, map) {
  // Each call of an array's own iterator may give other keys, so call it once.
  const each = new Set(keys)
  for (const key of each) checkKey(key, map)
  return [...each].sort((a, b) => {
    if (typeof a !== typeof b) return typeof a < typeof b ? -1 : 1
    if (a === b) return 0
    return a < b ? -1 : 1
  })
}

/** Throws for a call without keys if the map is closed. Calls with keys find that out when they open a lock. */
function checkOpen(map, keys) {
  if (keys.length === 0 && map.closedError !== undefined) throw map.closedError()
}

/**
 * Returns acquire(lock, limits) for one key, or a promise of one releaser for several keys. `makeLate(map)` returns the
 * function that makes the timeout error for several keys.
 */
function acquireOneOrMany(map, key, options, acquire, makeLate = lateFor) {
  if (Array.isArray(key)) return acquireMany(map, key, options, acquire, makeLate(map))
  refuseNumber(options)
  return map.with(key, (lock) => acquire(lock, options))
}

async function acquireMany(map, keys, options, acquire, late) {
  refuseNumber(options)
  const ordered = inOrder(keys, map)
  const { priority, timeout, signal, ifAvailable, maxPending } = readWait(options, acquireOptions)
  checkOpen(map, ordered)
  throwIfAborted(signal)
  // `timeout: 0` starts no timer, because over an engine each key still takes the time of the server's answer.
  const isNow = timeout === 0
  const time = isNow ? undefined : timeout
  const limit = withDeadline(signal, time, () => late(ordered, timeout, next))
  const limits = {
    priority,
    timeout: isNow ? 0 : undefined,
    signal: limit.signal,
    ifAvailable,
    maxPending,
  }
  const acquireNext = (lock) => acquire(lock, limits)
  const held = []
  let losses
  let next
  const stop = afterStart(map, (passed) => limit.start(timeout - passed))
  try {
    for (next of ordered) {
      const release = await map.with(next, acquireNext)
      if (release === undefined) {
        giveBack(held)
        return undefined
      }
      held.push(release)
      // In wider scopes the key may be lost while this call waits for the next one.
      if (release.signal === undefined) continue
      losses ??= following([limit.signal])
      losses.add(release.signal)
      limits.signal = losses.controller.signal
    }
    for (const release of held) throwIfAborted(release.signal)
  } catch (error) {
    giveBack(held)
    const isLate = isNow && error?.code === 'ERR_LOCK_TIMEOUT' && !signal?.aborted
    throw isLate ? late(ordered, 0, next) : error
  } finally {
    stop()
    losses?.end()
    limit.end()
  }
  return releaserOf(map, ordered, held)
}

/**
 * Calls `begin(passed)` when the timeout begins to count: at once, or once the engine has started. Returns a function
 * that prevents the call.
 */
function afterStart(map, begin) {
  if (map.afterStart !== undefined) return map.afterStart(begin)
  begin(0)
  return () => {}
}

/** Acquires one key or several, and blocks this thread. `limits` cover all keys together. */
function acquireSyncOneOrMany(map, key, limits, acquireSync, late) {
  if (!Array.isArray(key)) return map.with(key, (lock) => acquireSync(lock, limits))
  const { priority, timeout } = limits
  const deadline = platform.now() + timeout
  const acquireNext = (lock) => {
    const left = Math.max(0, deadline - platform.now())
    return acquireSync(lock, { priority, timeout: left })
  }
  try {
    return takeEach(map, key, acquireNext)
  } catch (error) {
    if (error.code !== 'ERR_LOCK_TIMEOUT') throw error
    const keys = inOrder(key, map)
    throw late === undefined ? timeoutError(map, keys, timeout) : late(keys, timeout)
  }
}

/** Takes all keys without waiting, or returns undefined. */
function tryOneOrMany(map, key, tryAcquire) {
  return Array.isArray(key) ? takeEach(map, key, tryAcquire) : map.with(key, tryAcquire)
}

/** Calls take(lock) for each key. Returns one releaser for all, or undefined if take() returned undefined for one. */
function takeEach(map, keys, take) {
  const ordered = inOrder(keys, map)
  checkOpen(map, ordered)
  const held = []
  try {
    for (const key of ordered) {
      const release = map.with(key, take)
      if (release === undefined) {
        giveBack(held)
        return undefined
      }
      held.push(release)
    }
    return releaserOf(map, ordered, held)
  } catch (error) {
    giveBack(held)
    throw error
  }
}

function timeoutError({ name }, keys, timeout, why = '') {
  const names = keys.map(nameOf).join(', ')
  const place = name === undefined ? '' : ` in ${nameOf(name)}`
  const message = `the locks of keys ${names}${place} were not available within ${Math.round(timeout)} ms${why}`
  return lockError('ERR_LOCK_TIMEOUT', message)
}

/** Returns a function that makes the timeout error of a wait for several keys. `key` is the key it waited for. */
function lateFor(map) {
  const trace = map.watch?.trace()
  return (keys, timeout, key) => {
    const error =
      silenceOf(map, keys, timeout) ?? timeoutError(map, keys, timeout, whyOf(map, key, timeout))
    trace?.moveTo(error)
    return error
  }
}

/** Returns an error if the engine's server has not answered for one of `keys`, else undefined. */
function silenceOf(map, keys, timeout) {
  for (const key of keys) {
    const silence = map.find(key)?.silence?.(timeout)
    if (silence !== undefined) return silence
  }
  return undefined
}

/** Returns why `key` is not available, or '' if that is not known. */
function whyOf(map, key, timeout) {
  const lock = map.find(key)
  return lock === undefined ? '' : lock.hint() || lock.holdersHint(timeout, `key ${nameOf(key)}`)
}

/** Makes one releaser for all grants in `held`. It is idempotent because each of them is. */
function releaserOf(map, keys, held) {
  const abandoned = held.some((release) => release.abandoned)
  const Releaser = () => {
    for (const one of held.reverse()) one()
  }
  const release = makeReleaser(Releaser, abandoned)
  const last = held.at(-1)
  if (last === undefined) return release
  if (Object.hasOwn(last, 'signal')) {
    release.signal = following(held.map(({ signal }) => signal)).controller.signal
  }
  if (map.hasTokensByKey) {
    release.fencingTokens = new Map(keys.map((key, i) => [key, held[i].fencingToken]))
  } else if (Object.hasOwn(last, 'fencingToken')) {
    // The token is drawn on first read, from a counter that all keys of the map share. So it suits every key.
    const one = () => last.fencingToken
    const each = () => (one() === undefined ? undefined : new Map(keys.map((key) => [key, one()])))
    defineLazy(release, 'fencingToken', one)
    defineLazy(release, 'fencingTokens', each)
  }
  return release
}

/**
 * Releases the keys taken so far. If one of these grants reports a death, no caller has seen it, so the key's next
 * grant reports it.
 */
function giveBack(held) {
  for (const release of held.reverse()) giveBackUndelivered(release)
}

module.exports = { acquireOneOrMany, acquireSyncOneOrMany, tryOneOrMany }
