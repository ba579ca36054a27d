'use strict'
// A hold is quiescent when its whole chain waits for locks: each of its doings is a reaction to a promise that depends
// on waits.
//
//   a promise depends on waits   if it is the promise of an acquire; if it is a reaction to a promise that depends on waits;
//                                or if there are reactions that may settle it, and all of them depend on waits
//
// An unknown promise does not depend on waits, so a hold is not quiescent while anything else goes on in its chain. A
// hold without any doing is not quiescent either, because another chain has its releaser. A quiescent chain cannot
// continue before one of its waits ends.

const { isAlive } = require('./resources.js')

/** Links in which a reaction kept the examined link from being quiescent. */
const blamed = new Set()
/** The result of a link that is not quiescent. */
const none = new Set()
/** How many promises one check follows. Deeper recursion would overflow the stack. */
const mostAnswers = 1000

/**
 * Returns the waits that all doings inside `link` depend on, or none if it is not quiescent. `results` caches the
 * results of other links, because a chain may have very many links inside each other. It is valid until a wait ends.
 */
function waitsOf(link, results) {
  const waits = new Set()
  blamed.clear()
  const isDone = isQuiescent(link, waits, results)
  results.set(link, isDone ? waits : none)
  if (isDone) return [...waits]
  for (const other of blamed) if (other !== link) other.isWatchedBy(link)
  return []
}

function isQuiescent(link, waits, results) {
  const answers = new Map()
  const links = [link]
  // The iteration includes elements that are added on the way.
  for (const each of links) {
    const known = results.get(each)
    if (known === none) return false
    if (known !== undefined) {
      for (const wait of known) waits.add(wait)
      continue
    }
    if (each.isCrowded) return false
    for (const step of each.doings) {
      if (step.isResource ? isAlive(step) : !dependsOn(step.parent, waits, answers)) return false
    }
    for (const inner of each.inner) links.push(inner)
  }
  return true
}

/** Whether the promise of `step` depends on waits. Adds these to `waits`. */
function dependsOn(step, waits, answers) {
  let last = step
  while (last?.isPending) last = last.parent // there may be very many
  if (last === undefined) return false
  if (last.wait !== undefined) {
    waits.add(last.wait)
    return true
  }
  let answer = answers.get(last)
  if (answer === undefined) {
    answers.set(last, true) // in case it depends on itself
    answer = answers.size < mostAnswers && dependsOnInside(last, waits, answers)
    answers.set(last, answer)
  }
  return answer
}

function dependsOnInside({ inside, isCrowded, site }, waits, answers) {
  if (inside === undefined || inside.size === 0 || isCrowded || site?.isByHand()) return false
  for (const { parent, link } of inside) {
    if (dependsOn(parent, waits, answers)) continue
    if (link !== null) blamed.add(link)
    return false
  }
  return true
}

module.exports = { waitsOf }
