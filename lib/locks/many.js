'use strict'
// One key of a keyed lock, or several at once. Every caller takes several in one order, so that no two wait for each
// other.
const { following } = require('../core/abort.js')
const { withDeadline } = require('../core/deadline.js')
const { lockError } = require('../core/errors.js')
const { checkKey, nameOf } = require('../core/keys.js')
const { acquireOptions, readWait } = require('../core/options.js')
const { makeReleaser, unseen } = require('../core/releaser.js')

/** Each key once, in an order that depends on nothing but the keys. */
function inOrder(keys) {
  for (const key of keys) checkKey(key)
  return [...new Set(keys)].sort((a, b) => {
    if (typeof a !== typeof b) return typeof a < typeof b ? -1 : 1
    if (a === b) return 0
    return a < b ? -1 : 1
  })
}

/**
 * What `acquire(lock, limits)` gives for one key, or a promise for one releaser of several. `makeLate(map)` makes
 * what makes the error of a timeout for several.
 */
function acquireOneOrMany(map, key, options, acquire, makeLate = lateFor) {
  if (Array.isArray(key)) return acquireMany(map, key, options, acquire, makeLate(map))
  return map.with(key, (lock) => acquire(lock, options))
}

async function acquireMany(map, keys, options, acquire, late) {
  const ordered = inOrder(keys)
  const { priority, timeout, signal, ifAvailable, maxPending } = readWait(options, acquireOptions)
  if (signal?.aborted) throw signal.reason
  const limit = limitFor(ifAvailable ? undefined : timeout, signal, () => late(ordered, timeout))
  const limits = { priority, signal: limit.signal, ifAvailable, maxPending }
  const acquireNext = (lock) => acquire(lock, limits)
  const held = []
  limit.start()
  try {
    for (const key of ordered) {
      const release = await map.with(key, acquireNext)
      if (release === undefined) {
        giveBack(held)
        return undefined
      }
      held.push(release)
    }
    // Over an engine one may have been lost while another one was waited for.
    for (const release of held) release.signal?.throwIfAborted()
  } catch (error) {
    giveBack(held)
    throw error
  } finally {
    limit.end()
  }
  return releaserOf(ordered, held)
}

/** The same for a thread that blocks: `limits` are for all keys together. */
function acquireSyncOneOrMany(map, key, limits, acquireSync, late = timeoutError) {
  if (!Array.isArray(key)) return map.with(key, (lock) => acquireSync(lock, limits))
  const ordered = inOrder(key)
  const { priority, timeout } = limits
  const deadline = performance.now() + timeout
  const acquireNext = (lock) => {
    const left = Math.max(0, deadline - performance.now())
    return acquireSync(lock, { priority, timeout: left })
  }
  const held = []
  try {
    for (const key of ordered) held.push(map.with(key, acquireNext))
  } catch (error) {
    giveBack(held)
    throw error.code === 'ERR_LOCK_TIMEOUT' ? late(ordered, timeout) : error
  }
  return releaserOf(ordered, held)
}

/** All keys now, or undefined. */
function tryOneOrMany(map, key, tryAcquire) {
  if (!Array.isArray(key)) return map.with(key, tryAcquire)
  const ordered = inOrder(key)
  const held = []
  try {
    for (const key of ordered) {
      const release = map.with(key, tryAcquire)
      if (release === undefined) {
        giveBack(held)
        return undefined
      }
      held.push(release)
    }
  } catch (error) {
    giveBack(held)
    throw error
  }
  return releaserOf(ordered, held)
}

/** One signal that ends all waits: the caller's, or that of its timeout for all of them together. */
function limitFor(timeout, signal, late) {
  if (timeout === undefined) return { signal, start() {}, end() {} }
  return withDeadline(signal, timeout, late)
}

function timeoutError(keys, timeout) {
  const names = keys.map(nameOf).join(', ')
  const message = `the locks of keys ${names} were not available within ${timeout} ms`
  return lockError('ERR_LOCK_TIMEOUT', message)
}

/** Makes the error of a wait for several keys that has taken too long. */
function lateFor(map) {
  const trace = map.watch?.trace()
  return (keys, timeout) => {
    const error = silenceOf(map, keys, timeout) ?? timeoutError(keys, timeout)
    trace?.moveTo(error)
    return error
  }
}

/** The error of a server that has not answered for one of `keys`, if there is such a one. */
function silenceOf(map, keys, timeout) {
  for (const key of keys) {
    const silence = map.find(key)?.silence?.(timeout)
    if (silence !== undefined) return silence
  }
  return undefined
}

/** Each of `held` lets go of its own grant once: so does this one for all of them. */
function releaserOf(keys, held) {
  const abandoned = held.some((release) => release.abandoned)
  const release = makeReleaser(() => releaseAll(held), abandoned)
  const last = held.at(-1)
  if (last === undefined) return release
  if ('signal' in last) {
    // Over an engine: each is a lease of its own, with tokens of its own.
    release.fencingTokens = new Map(keys.map((key, i) => [key, held[i].fencingToken]))
    release.signal = following(held.map(({ signal }) => signal)).controller.signal
  } else if ('fencingToken' in last) {
    // Drawn while all are held, and by the count that all keys of a map have in common.
    const get = () => last.fencingToken
    Object.defineProperty(release, 'fencingToken', { configurable: true, enumerable: true, get })
  }
  return release
}

function releaseAll(held) {
  for (const release of held.reverse()) release()
}

/** Since not all could be had: no caller has heard of a death that one of them tells of. */
function giveBack(held) {
  for (const release of held.reverse()) (release[unseen] ?? release)()
}

module.exports = {
  acquireOneOrMany,
  acquireSyncOneOrMany,
  tryOneOrMany,
}
