'use strict'
// Several keys at once. Everybody takes them in one order, so that no two can wait for each other.
const { following } = require('../core/abort.js')
const { withDeadline } = require('../core/deadline.js')
const { lockError } = require('../core/errors.js')
const { checkKey, nameOf } = require('../core/keys.js')
const { readWait } = require('../core/options.js')
const { dressed, unseen } = require('../core/releaser.js')

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
 * One releaser for all: `acquireOne(key, limits)` gives a promise for one of them, and `late(keys, timeout)`
 * makes the error of a timeout.
 */
async function acquireMany(keys, options, acquireOne, late) {
  const ordered = inOrder(keys)
  const { priority, timeout, signal } = readWait(options)
  if (signal?.aborted) throw signal.reason
  const limit = limitFor(timeout, signal, () => late(ordered, timeout))
  const held = []
  limit.start()
  try {
    for (const key of ordered) held.push(await acquireOne(key, { priority, signal: limit.signal }))
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

/** The same for a thread that blocks: `limits` are for all of them together. */
function acquireManySync(keys, { priority, timeout }, acquireOne, late = timeoutError) {
  const ordered = inOrder(keys)
  const deadline = performance.now() + timeout
  const held = []
  try {
    for (const key of ordered) {
      const left = Math.max(0, deadline - performance.now())
      held.push(acquireOne(key, { priority, timeout: left }))
    }
  } catch (error) {
    giveBack(held)
    throw error.code === 'ERR_LOCK_TIMEOUT' ? late(ordered, timeout) : error
  }
  return releaserOf(ordered, held)
}

/** All now, or undefined. */
function tryAcquireMany(keys, tryOne) {
  const ordered = inOrder(keys)
  const held = []
  try {
    for (const key of ordered) {
      const release = tryOne(key)
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

/** Each of `held` lets go of its own grant once: so does this one for all of them. */
function releaserOf(keys, held) {
  const abandoned = held.some((release) => release.abandoned)
  const release = dressed(() => releaseAll(held), abandoned)
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

/** Since not all could be had: nobody has heard of a death that one of them tells of. */
function giveBack(held) {
  for (const release of held.reverse()) (release[unseen] ?? release)()
}

module.exports = { acquireMany, acquireManySync, timeoutError, tryAcquireMany }
