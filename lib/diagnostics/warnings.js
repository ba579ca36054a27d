'use strict'
// Warnings of process.emitWarning.
const { threadId } = require('node:worker_threads')

const type = 'BoxofficeWarning'

/** `hold` is not over after `heldFor` ms. */
function longHold({ lock, stack }, heldFor) {
  const time = Math.round(heldFor)
  warn(
    'BOXOFFICE_LONG_HOLD',
    `${lock.title()} has been held for ${time} ms by ${thisThread()}`,
    stack,
  )
}

/** The releaser of `hold` is garbage. */
function leaked({ lock, stack }) {
  const lost = `a releaser of ${lock.title()} was collected as garbage before it was called`
  warn('BOXOFFICE_LEAKED_RELEASER', `${lost}: what it holds stays locked`, stack)
}

function warn(code, message, stack) {
  const detail = stack === undefined ? undefined : `acquired\n${stack}`
  process.emitWarning(message, { type, code, detail })
}

const thisThread = () => (threadId === 0 ? 'the main thread' : `thread ${threadId}`)

const holds = new FinalizationRegistry((hold) => {
  if (hold.isOver) return
  hold.isLeaked = true
  leaked(hold)
})

/** `release` is the only one to let go of `hold`, if all goes well. */
function watchReleaser(release, hold) {
  holds.register(release, hold, hold)
}

/** It has let go: what is watched of it must not pile up until the collector comes round. */
function unwatchReleaser(hold) {
  holds.unregister(hold)
}

module.exports = { longHold, unwatchReleaser, watchReleaser }
