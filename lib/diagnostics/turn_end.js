'use strict'
// Runs the search for deadlocks at the end of this turn of the event loop.
//
// A search keeps the event loop alive, because the last waits of a thread may be a deadlock. But a listener of
// 'beforeExit' may wait for a lock each time the event loop has run empty. Only the first search for such waits keeps
// the event loop alive. Otherwise the thread would never end.
const { setImmediate } = require('../core/builtins.js')
const { whenEmpty } = require('../core/pending.js')
const { apart } = require('./chains.js')

/** The search. Undefined before start(). */
let search
/** Whether the event loop has run empty, and has not run since. */
let isEmpty = false
/** Whether a search has kept an empty event loop alive. */
let hasKept = false
/** The Immediate of the search, while it is due. */
let due

/** Sets the function that schedule() calls, and begins to learn when the event loop runs empty. */
function start(searchForDeadlocks) {
  if (search !== undefined) return
  search = searchForDeadlocks
  whenEmpty(onEmpty)
}

/** Schedules a search for the end of this turn. */
function schedule() {
  if (due !== undefined) return
  due = apart(() => setImmediate(onTurnEnd))
  if (isEmpty) limit()
}

function onTurnEnd() {
  due = undefined
  search()
}

/** Called when only the search keeps the event loop alive: allows that once. */
function limit() {
  if (hasKept) due.unref()
  hasKept = true
}

function onEmpty() {
  // A listener of 'beforeExit' that ran before this one may already wait for a lock.
  if (!isEmpty && due !== undefined) limit()
  isEmpty = true
  apart(() => setImmediate(onTurn).unref())
}

function onTurn() {
  isEmpty = false
}

module.exports = { schedule, start }
