'use strict'
// The error of a deadlock, and the text of each wait and hold, which other threads read.
const { threadId } = require('node:worker_threads')
const { lockError } = require('../core/errors.js')
const { fromText, toText } = require('../core/key_text.js')
const { titleOf } = require('./title.js')

/** Returns a text about a wait or a hold, for the thread that finds it in a cycle. */
function labelOf({ observer, key, mode, weight, stack }) {
  const { kind, scope, name } = observer
  // JSON has no bigints.
  const keyText = key === undefined ? undefined : toText(key)
  const what = { kind, name, key: keyText, scope, mode, weight, title: titleOf(observer), stack }
  return JSON.stringify({ thread: threadId, ...what })
}

/**
 * Makes the error. `labels` are from C++: for each waiter its wait, and its hold that the previous waiter waits for.
 */
function deadlockError(labels) {
  const cycle = []
  for (let i = 0; i < labels.length; i += 2) {
    cycle.push({ waitsFor: JSON.parse(labels[i]), holds: JSON.parse(labels[i + 1]) })
  }
  const title = cycle[0].waitsFor.title
  const waiters = cycle.length === 1 ? '1 waiter' : `${cycle.length} waiters`
  const message = `${title} not acquired: deadlock of ${waiters}\n${cycle.map(draw).join('\n')}`
  const error = lockError('ERR_LOCK_DEADLOCK', message)
  error.cycle = cycle.map(plain)
  return error
}

function draw({ waitsFor, holds }) {
  const who = waitsFor.thread === 0 ? 'main thread' : `thread ${waitsFor.thread}`
  return (
    `  ${who} waits for ${waitsFor.title}\n${framesOf(waitsFor)}\n` +
    `    while it holds ${holds.title}, acquired\n${framesOf(holds)}`
  )
}

function framesOf({ stack }) {
  const frames = (stack ?? '').split('\n').filter((frame) => frame.trim() !== '')
  if (frames.length === 0) return '      at an unknown place'
  return frames.map((frame) => `      ${frame.trim()}`).join('\n')
}

const plain = ({ waitsFor, holds }) => ({
  thread: waitsFor.thread,
  waitsFor: plainLock(waitsFor),
  holds: [plainLock(holds)],
})

function plainLock({ thread: _, title: __, key, ...lock }) {
  return key === undefined ? lock : { ...lock, key: fromText(key) }
}

module.exports = { deadlockError, framesOf, labelOf }
