// Memory by which the threads of a work communicate: each field in a cache line of its own.
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

/** Returns when all threads have arrived, for the `meeting`th time (from 1). */
async function meet(board, meeting) {
  Atomics.add(board, arrived, 1)
  while (Atomics.load(board, arrived) < meeting * board[threads]) await new Promise(setImmediate)
}

/** Returns when another thread has written `value`. */
async function until(board, field, value) {
  while (Atomics.load(board, field) !== value) await new Promise(setImmediate)
}

/**
 * The owner, in plain memory: only the lock orders the writes to it. `enter` and `leave` both count
 * when they find another owner.
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
