// Section 11 of the design: how good is good enough. `kit` is ours, unless it says
// another one of ours.
const { median } = require('./numbers.js')

const bars = [
  { row: 'pair', peer: 'await-lock', atLeast: 0.9 },
  { row: 'pair', peer: 'async-mutex', atLeast: 5 },
  { row: 'releaser', peer: 'async-mutex', atLeast: 3.5 },
  { row: 'run', peer: 'async-mutex', atLeast: 3.5 },
  { row: 'run', peer: 'async-sema', atLeast: 1 },
  { row: 'keyed-run', peer: 'async-lock', atLeast: 2 },
  { row: 'keyed-run', peer: 'async-mutex', atLeast: 5 },
  { row: 'keyed-acquire', peer: 'async-mutex', atLeast: 5 },
  { row: 'contended', peer: 'async-mutex', atLeast: 3 },
  { row: 'contended', peer: 'superlock', atLeast: 1 },
  { row: 'drain', peer: 'async-mutex', atLeast: 20 },
  { row: 'drain', peer: 'async-sema', atLeast: 1 },
  // Linear is 1; what is quadratic, 10. The garbage collector alone makes it 2 on some days.
  { row: 'drain', field: 'growth', what: 'ten times the line costs ten times this', atMost: 2 },
  { row: 'waiter-bytes', field: 'value', what: 'bytes', atMost: 300 },
  // An entry would cost 50 or more. Pages that the process happens to keep make it up to 4.
  { row: 'key-bytes', field: 'value', what: 'bytes, where less than 4 is none', atMost: 4 },
  { row: 'lock-bytes', field: 'value', what: 'bytes', atMost: 200 },
  { row: 'load', peer: 'async-mutex', atLeast: 0.67 },
  { row: 'load', field: 'bytes', peer: 'async-mutex', atLeast: 0.33 },
  ...['main-worker-1', 'main-worker-10'].flatMap((row) => [
    { row, peer: 'article', atLeast: 1 },
    { row, field: 'longest', what: 'ms, the longest wait', atMost: 4 },
    { row, kit: 'ours, Node 24', peer: 'navigator.locks, Node 24', atLeast: 20 },
  ]),
  ...[
    ['locks-uncontended', 5],
    ['locks-queued-10000', 50],
  ].map(([row, atLeast]) => ({
    row,
    kit: 'ours, Node 24',
    peer: 'navigator.locks, Node 24',
    atLeast,
  })),
  { row: 'locks-bytes', kit: 'ours, Node 24', what: 'bytes, a third of 2.5 KB', atMost: 833 },
  {
    row: 'locks-busy',
    kit: 'ours, Node 24',
    field: 'growth',
    what: 'times the cost of a request alone',
    atMost: 1.5,
  },
  { row: 'host-now', kit: 'ours, one mutex', peer: 'fs-native-extensions', atLeast: 12 },
  { row: 'host-now', kit: 'ours, one mutex', peer: 'node:sqlite, Node 24', atLeast: 50 },
  { row: 'host-4-one-key', peer: 'fs-native-extensions', atLeast: 5 },
  { row: 'host-hand-off', what: 'us, half of all', atMost: 30 },
  { row: 'host-relay', what: 'us, half of all', atMost: 30 },
  { row: 'host-death', what: 'ms', atMost: 5 },
  { row: 'host-death-1gb', what: 'ms', atMost: 100 },
  { row: 'cluster-4-20', kit: 'ours, redis', peer: 'redis-semaphore', atLeast: 30 },
  {
    row: 'cluster-4-20',
    kit: 'ours, redis',
    field: 'commands',
    what: 'commands of the server for each turn',
    atMost: 0.3,
  },
  { row: 'cluster-hand-off', kit: 'ours, redis', peer: 'redis-semaphore', atLeast: 5 },
  { row: 'workers-sync', peer: 'article', atLeast: 1 },
  { row: 'workers-sync', field: 'longest', what: 'ms, the longest wait', atMost: 4 },
]

/**
 * What became of each bar that was measured. `valuesOf(row, kit, field)` are the numbers of a cell,
 * one for each round, none if it was not measured. A ratio is how many times better ours is: more
 * operations a second, or less time. Medians decide; `rounds` tells how many rounds agree that the
 * bar is met, for peers that are quick one time and slow the next, as superlock's line is.
 */
function judge(rows, valuesOf) {
  return bars.flatMap(({ row, kit = 'ours', peer, field = 'value', what, atLeast, atMost }) => {
    const { title, higherIsBetter } = rows[row]
    const ours = valuesOf(row, kit, field)
    const theirs = peer === undefined ? ours : valuesOf(row, peer, field)
    if (ours.length === 0 || theirs.length === 0) return []
    const bar = peer === undefined ? `<= ${atMost} (${what})` : `>= ${atLeast}x ${peer}`
    const compare = (one, other) => {
      if (peer === undefined) return one
      return higherIsBetter ? one / other : other / one
    }
    const isMet = (got) => (peer === undefined ? got <= atMost : got >= atLeast)
    const got = compare(median(ours), median(theirs))
    const rounds = ours.filter((one, round) => isMet(compare(one, theirs[round]))).length
    return { title, bar, got, met: isMet(got), rounds }
  })
}

module.exports = { judge }
