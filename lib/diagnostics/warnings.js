'use strict'
// Warnings by process.emitWarning.
const { threadId } = require('node:worker_threads')

const type = 'BoxofficeWarning'

/** `hold` has lasted longer than `heldFor` ms. */
function longHold({ lock, stack }, heldFor) {
  const time = Math.round(heldFor)
  warn(
    'BOXOFFICE_LONG_HOLD',
    `${lock.title()} has been held for ${time} ms by ${thisThread()}`,
    stack,
  )
}

/** The releaser of `hold` was collected before it was called. */
function leaked({ lock, stack }) {
  const lost = `a releaser of ${lock.title()} was collected as garbage before it was called`
  warn('BOXOFFICE_LEAKED_RELEASER', `${lost}: what it holds stays locked`, stack)
}

function warn(code, message, stack) {
  const detail = stack === undefined ? undefined : `It was acquired here:\n${stack}`
  process.emitWarning(message, { type, code, detail })
}

const thisThread = () => (threadId === 0 ? 'the main thread' : `thread ${threadId}`)

const holds = new FinalizationRegistry((hold) => {
  if (hold.isOver) return
  hold.isLeaked = true
  leaked(hold)
})

/** Watches for the collection of `release`, the only releaser of `hold`. */
function watchReleaser(release, hold) {
  holds.register(release, hold, hold)
}

/** `release` was called: stops watching it, so that entries do not pile up until the next garbage collection. */
function unwatchReleaser(hold) {
  holds.unregister(hold)
}

module.exports = { longHold, unwatchReleaser, watchReleaser }
