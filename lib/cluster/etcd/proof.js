'use strict'
// Bounds the age of a grant. A message does not show how long it was on its way. But if a command was answered at a
// revision before the grant, the grant was made after that command was sent.

/** Commands sent within this time, in ms, share one entry. */
const apart = 50
const most = 20

class Proof {
  /** Answers as { sent, revision }, the newest last. */
  #answers = []

  /** Records that the answer to a command, sent at time `sent`, came from `revision`. */
  note(sent, revision) {
    const all = this.#answers
    const [before, last] = all.slice(-2)
    if (last !== undefined && sent <= last.sent) return
    if (last !== undefined && sent - before.sent < apart) all.pop()
    all.push({ sent, revision })
    if (all.length > most) all.shift()
  }

  /** Returns a time before the grant of `revision` was made, or undefined if no answer proves one. */
  before(revision) {
    return this.#answers.findLast((answer) => answer.revision < revision)?.sent
  }
}

module.exports = { Proof }
