'use strict'
// A hold is quiescent when everything that is being done in its chain waits for locks: each of its doings is a reaction to
// the promise of an acquire, or to one that cannot settle before that does.
//
//   a promise depends on waits   if it is that of an acquire; if it is a reaction to one that does; or if there are
//                                reactions that may make it, and all of them do
//
// One of which nothing is known does not. So a hold is not quiescent while anything else is going on in its chain, nor
// when nothing is: then another chain has its releaser. Of what is quiescent, nothing goes on before one of the waits
// ends.

/** Links of reactions that were the reason why something is not quiescent. */
const blamed = new Set()
/** Promises within promises: one of more is not looked into, which would take the stack of it. */
const mostAnswers = 1000

/** The waits that all depends on which is being done inside of `link`; or nothing when it is not quiescent. */
function waitsOf(link) {
  const waits = new Set()
  blamed.clear()
  if (isQuiescent(link, waits, new Map())) return [...waits]
  for (const other of blamed) if (other !== link) other.isWatchedBy(link)
  return []
}

function isQuiescent(link, waits, answers) {
  if (link.isCrowded) return false
  for (const { resource, parent } of link.doings) {
    if (resource === undefined ? !dependsOn(parent, waits, answers) : isAlive(resource))
      return false
  }
  for (const inner of link.inner) if (!isQuiescent(inner, waits, answers)) return false
  return true
}

/** A timer that has been cleared says so in no other way. */
function isAlive(resource) {
  return resource._destroyed !== true
}

/** Whether `step` cannot settle before one of `waits` is over, which it adds to. */
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
    answers.set(last, true) // besides itself, if it is taken to depend on that
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
