// Memory in which threads of a work see each other: each field in a cache line of its own.
const fields = 8
const wordsApart = 16
const [threads, arrived, stop, inside, held, waiting, done] = Array.from(
  { length: fields },
  (_, i) => i * wordsApart,
)

function newBoard(threadCount) {
  const bytes = fields * wordsApart * Int32Array.BYTES_PER_ELEMENT
  const board = new Int32Array(new SharedArrayBuffer(bytes))
  board[threads] = threadCount
  return board
}

/** Goes on when all threads have come here, for the `meeting`th time (from 1). */
async function meet(board, meeting) {
  Atomics.add(board, arrived, 1)
  while (Atomics.load(board, arrived) < meeting * board[threads]) await new Promise(setImmediate)
}

/** Goes on when another thread has written `value`. */
async function until(board, field, value) {
  while (Atomics.load(board, field) !== value) await new Promise(setImmediate)
}

/**
 * Who is inside, in plain memory: the lock has to order what is written there. `enter` and `leave`
 * count, each, when they find that somebody else is or was inside.
 */
function guardOf(board, index) {
  const me = index + 1
  const guard = {
    overlaps: 0,
    enter() {
      if (board[inside] !== 0) ++guard.overlaps
      board[inside] = me
    },
    leave() {
      if (board[inside] !== me) ++guard.overlaps
      board[inside] = 0
    },
  }
  return guard
}

module.exports = { done, guardOf, held, meet, newBoard, stop, until, waiting }
