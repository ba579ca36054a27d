'use strict'
// The open promises of the current run: reactions that the run makes later may settle them. See chains.js.

/**
 * How many open promises one reaction may settle: the latest ones, and the first ones of the run, which belong to the
 * functions around a call that makes very many promises.
 */
const mostLatest = 4
const mostFirst = 8
let open = []
let first = []
/** The number of the current run. */
let run = 1

function opens(step) {
  step.openIn = run
  open.push(step)
  if (first.length < mostFirst) first.push(step)
}

/** Closes `step`, if it is known. Returns whether it was open. */
function closes(step) {
  if (step?.openIn !== run) return false
  step.openIn = 0
  return true
}

/** Excludes settled promises, which would take the place of promises of functions around them. */
const isOpen = (step) => step.openIn === run && !step.isSettled

/**
 * Returns the open promises that a reaction may settle. Removes closed ones only from the end, since there may be very
 * many.
 */
function openPromises() {
  while (open.length > 0 && !isOpen(open.at(-1))) open.pop()
  const latest = []
  for (let i = open.length - 1; i >= 0 && latest.length < mostLatest; i--) {
    const step = open[i]
    // A promise that was closed and opened again is in the list twice.
    if (isOpen(step) && !latest.includes(step)) latest.unshift(step)
  }
  if (latest.length < mostLatest) return latest
  return [...new Set([...first.filter(isOpen), ...latest])]
}

function newRun() {
  run++
  open = []
  first = []
}

module.exports = { closes, openPromises, newRun, opens }
