'use strict'
// When the search for deadlocks runs: at the end of this turn of the event loop.
//
// A search keeps the event loop alive, because the last waits of a thread may be a deadlock. But a listener of
// 'beforeExit' may wait for a lock whenever the event loop has run empty. Of the searches for such waits only the first
// keeps the event loop alive: otherwise the thread would never end.
const { setImmediate } = require('../core/builtins.js')
const { whenEmpty } = require('../core/pending.js')
const { apart } = require('./chains.js')

let isListening = false
/** The event loop has run empty, and has not run since. */
let isEmpty = false
/** A search has kept an empty event loop alive. */
let hasKept = false
/** The Immediate of the search, while it is due. */
let due

/** Begins to learn when the event loop runs empty. */
function start() {
  if (isListening) return
  isListening = true
  whenEmpty(onEmpty)
}

/** Calls `search` at the end of this turn. No search may be due yet. */
function atTurnEnd(search) {
  const run = () => {
    due = undefined
    search()
  }
  due = apart(() => setImmediate(run))
  if (isEmpty) limit()
}

/** Nothing but the search keeps the event loop alive. */
function limit() {
  if (hasKept) due.unref()
  hasKept = true
}

function onEmpty() {
  // An earlier listener of 'beforeExit' may wait already.
  if (!isEmpty && due !== undefined) limit()
  isEmpty = true
  apart(() => setImmediate(onTurn).unref())
}

function onTurn() {
  isEmpty = false
}

module.exports = { atTurnEnd, start }
