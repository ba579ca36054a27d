'use strict'
// The open promises of the current run: each may be settled by reactions that are made after it. See chains.js.

/** The largest number of open promises that one reaction may settle. */
const mostOpen = 4
let open = []
/** The number of the current run. */
let run = 1

function opens(step) {
  step.openIn = run
  open.push(step)
}

/** `step`, if known, is not open any more. Returns whether it was. */
function closes(step) {
  if (step?.openIn !== run) return false
  step.openIn = 0
  return true
}

/** Closed promises stay in the list until they are last: one run may make very many. */
function latestOpen() {
  while (open.length > 0 && open.at(-1).openIn !== run) open.pop()
  const latest = []
  for (let i = open.length - 1; i >= 0 && latest.length < mostOpen; i--) {
    const step = open[i]
    // A promise that was opened again is in the list twice.
    if (step.openIn === run && !latest.includes(step)) latest.unshift(step)
  }
  return latest
}

function newRun() {
  run++
  open = []
}

module.exports = { closes, latestOpen, newRun, opens }
