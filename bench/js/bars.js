// The bars of the design's section 11. `kit` is this library, unless a bar names another kit of it.
const { median, round } = require('./numbers.js')

const mutexPeers = ['async-mutex', 'async-lock', 'async-sema', 'await-lock', 'superlock', 'p-limit']
const watched = [
  'pair',
  'releaser',
  'run',
  'semaphore',
  'keyed-acquire',
  'read-mostly',
  'contended',
]

const bars = [
  { row: 'pair', peer: 'await-lock', atLeast: 1 },
  ...aheadOf('releaser', ['async-mutex', 'superlock']),
  ...aheadOf('run', mutexPeers),
  { row: 'semaphore', peer: 'async-sema', atLeast: 1 },
  { row: 'limit', peer: 'fastq', atLeast: 1.1 },
  { row: 'limit', peer: 'es-toolkit', atLeast: 1.1 },
  { row: 'limit', peer: '@henrygd/queue', atLeast: 0.8 },
  { row: 'map', peer: 'p-limit', atLeast: 1 },
  { row: 'keyed-run', peer: 'async-lock', atLeast: 2 },
  { row: 'keyed-hot', peer: 'async-lock', atLeast: 1.2 },
  ...aheadOf('contended', mutexPeers),
  ...aheadOf('drain', mutexPeers),
  // Linear is 1, quadratic is 10. On some days the garbage collector alone makes it 2.
  { row: 'drain', field: 'growth', what: 'ten times the queue costs ten times this', atMost: 2 },
  ...mutexPeers.map((peer) => ({ row: 'waiter-bytes', peer, atLeast: 1 })),
  { row: 'load', peer: 'async-mutex', atLeast: 1 / 1.5 },
  { row: 'load', field: 'bytes', peer: 'async-mutex', atLeast: 1 / 3 },
  ...[
    ['main-worker-1', 0.9],
    ['main-worker-10', 0.75],
  ].flatMap(([row, atLeast]) => [
    { row, peer: 'article', atLeast },
    { row, field: 'fairness', what: 'fewest / most turns of a thread', atLeast: 0.8 },
    { row, field: 'longest', what: 'ms, the longest wait', atMost: 4 },
  ]),
  { row: 'workers-sync', peer: 'article', atLeast: 1 },
  ...[
    ['locks-uncontended', 15],
    ['locks-queued-10000', 50],
  ].map(([row, atLeast]) => ({
    row,
    kit: 'ours, Node 24',
    peer: 'navigator.locks, Node 24',
    atLeast,
  })),
  { row: 'host-now', kit: 'ours, one mutex', peer: 'fs-native-extensions', atLeast: 12 },
  { row: 'host-4-one-key', peer: 'fs-native-extensions', atLeast: 5 },
  { row: 'host-hand-off', peer: 'flock of fs-ext', atLeast: 1 },
  { row: 'host-relay', peer: 'flock of fs-ext', atLeast: 2 },
  { row: 'host-death', peer: 'flock of fs-ext', atLeast: 1 / 1.2 },
  { row: 'cluster-alone', kit: 'ours, redis', peer: 'redis-semaphore', atLeast: 1.2 },
  { row: 'cluster-alone', kit: 'ours, redis', field: 'p50', peer: 'redlock', atLeast: 1 },
  { row: 'cluster-hand-off', kit: 'ours, redis', peer: 'simple-redis-mutex', atLeast: 1 / 0.8 },
  { row: 'cluster-hand-off', kit: 'ours, redis', peer: 'redis-semaphore', atLeast: 6 },
  { row: 'cluster-4-20', kit: 'ours, redis', peer: 'redis-semaphore', atLeast: 50 },
  { row: 'cluster-alone', kit: 'ours, PostgreSQL', peer: 'pg_advisory_lock', atLeast: 0.8 },
  { row: 'cluster-hand-off', kit: 'ours, PostgreSQL', peer: 'pg_advisory_lock', atLeast: 1 / 1.2 },
  { row: 'cluster-hand-off', kit: 'ours, etcd', peer: 'etcd3 and a watch', atLeast: 1 / 1.2 },
  ...['ours, ioredis', 'ours, PostgreSQL'].map((kit) => ({
    row: 'first-acquire',
    kit,
    what: `ms, by ${kit}`,
    atMost: 40,
  })),
  ...watched.map((row) => ({ row: `watched-${row}`, kit: 'counters', peer: 'off', atLeast: 0.9 })),
]

function aheadOf(row, peers) {
  return peers.map((peer) => ({ row, peer, atLeast: 1 }))
}

/**
 * The result of each bar that was measured. `valuesOf(row, kit, field)` are the numbers of a cell,
 * one per round, none if it was not measured. A ratio is how many times better this library is:
 * more operations a second, or less time or memory. Medians decide; `rounds` is how many rounds
 * meet the bar, because some peers vary from round to round, as superlock's queue does.
 */
function judge(rows, valuesOf) {
  return bars.flatMap((bar) => {
    const { row, kit = 'ours', peer, field = 'value' } = bar
    const ours = valuesOf(row, kit, field)
    const theirs = peer === undefined ? ours : valuesOf(row, peer, field)
    if (ours.length === 0 || theirs.length === 0) return []
    const isMore = moreIsBetter(rows[row], field)
    const compare = (one, other) => {
      if (peer === undefined) return one
      return isMore ? one / other : other / one
    }
    const isMet = (got) => got >= (bar.atLeast ?? -Infinity) && got <= (bar.atMost ?? Infinity)
    const got = compare(median(ours), median(theirs))
    const rounds = ours.filter((one, round) => isMet(compare(one, theirs[round]))).length
    return { title: rows[row].title, bar: textOf(bar), got, met: isMet(got), rounds }
  })
}

/** Whether a row's number counts operations, not time or memory. */
function moreIsBetter({ lines = [], unit }, field = 'value') {
  return (lines.find((line) => line.field === field)?.unit ?? unit) === 'k/s'
}

function textOf({ peer, field, what, atLeast, atMost }) {
  if (peer === undefined) return `${atLeast ? `>= ${atLeast}` : `<= ${atMost}`} (${what})`
  return `>= ${round(atLeast)}x ${peer}${field === undefined ? '' : `, ${field}`}`
}

module.exports = { judge, moreIsBetter }
