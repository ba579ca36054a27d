'use strict'
// The open promises of the current run: each may be settled by reactions that are made after it. See chains.js.

/**
 * The largest number of open promises that one reaction may settle: the latest ones, and the first ones of the run. Those
 * are the functions around a call that makes very many promises.
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

/** `step`, if known, is not open any more. Returns whether it was. */
function closes(step) {
  if (step?.openIn !== run) return false
  step.openIn = 0
  return true
}

/** A settled promise must not take the place of one that the function around it made. */
const isOpen = (step) => step.openIn === run && !step.isSettled

/** Others stay in the list until they are last: one run may make very many. */
function openPromises() {
  while (open.length > 0 && !isOpen(open.at(-1))) open.pop()
  const latest = []
  for (let i = open.length - 1; i >= 0 && latest.length < mostLatest; i--) {
    const step = open[i]
    // A promise that was opened again is in the list twice.
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
