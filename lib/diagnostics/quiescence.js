'use strict'
// A hold is quiescent when its whole chain waits for locks: each of its doings is a reaction to the promise of an acquire,
// or to a promise that cannot settle before that one.
//
//   a promise depends on waits   if it is the promise of an acquire; if it is a reaction to such a promise; or if there are
//                                reactions that may settle it, and all of them depend on waits
//
// An unknown promise does not depend on waits. So a hold is not quiescent while anything else is going on in its chain. A
// hold without any doing is not quiescent either: another chain has its releaser. A quiescent chain does not go on before
// one of its waits ends.

const { isAlive } = require('./resources.js')

/** The links of reactions that made another link not quiescent. */
const blamed = new Set()
/** The result of a link that is not quiescent. */
const none = new Set()
/** The deepest nesting of promises that is followed: deeper recursion would overflow the stack. */
const mostAnswers = 1000

/**
 * The waits that all doings inside `link` depend on; none when it is not quiescent. `results` has those of other links since
 * the last wait ended: a chain may have very many links inside each other.
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
  // Iterating an array includes the elements that are added on the way.
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

/** Whether `step` cannot settle before one of its waits is over. Adds these to `waits`. */
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
