'use strict'
// Records everything that several threads do to a lock, and checks it afterwards; see
// test/helpers/history.js.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { checkHistory, createHistory, fromRows } = require('../helpers/history.js')
const { play, startPlaying, tasks } = require('../helpers/history_thread.js')
const { scaled } = require('../helpers/scale.js')
const { kinds } = require('../helpers/shared_locks.js')

const operations = scaled(1_000_000, 5000)
const workers = ['async', 'sync', 'mixed', 'sync']

describe('histories of main and four workers', function () {
  this.timeout(300_000)
  for (const [name, kind] of Object.entries(kinds)) {
    it(`${name}: ${operations} operations, awaited and blocking, with timeouts and aborts`, async () => {
      const threads = workers.length + 1
      const target = Math.ceil(operations / threads)
      // Each task of a thread may still be in flight when the thread has done its part.
      const { clock, logs } = createHistory(threads, 3 * (target + 4 * tasks))
      const counts = new Int32Array(new SharedArrayBuffer(4 * threads))
      const at = kind.create()
      const data = (thread) => ({
        ...{ kind: name, at, clock, log: logs[thread], counts, thread, target },
        role: workers[thread - 1] ?? 'async',
        cancels: thread === 0,
      })
      const lock = kind.find(at)
      const ends = workers.map((_, i) => once(startPlaying(data(i + 1)), 'exit'))
      await Promise.all([play(data(0)), ...ends])

      const seen = checkHistory({ clock, logs }, kind.permits, kind.together)
      assert.ok(kind.isIdle(lock))
      for (const count of seen) assert.ok(count.requests >= target)
      // With less work, one thread may be done before the next has begun.
      if (operations < 1_000_000) return
      for (const count of seen) {
        assert.ok(count.acquired > 0 && count.gaveUp > 0, JSON.stringify(count))
      }
      if (Object.values(kind.ways).some((way) => way.isOrdered)) {
        assert.ok(seen[0].waited > 0 && seen[1].waited > 0 && seen[3].waited > 0)
      }
    })
  }
})

describe('the check of histories', () => {
  // [when, thread, what, request, detail]. A request has a weight, a priority, and whether its
  // order counts; an acquire has whether it waited.
  const ask = (weight = 1, priority = 0) => (weight << 9) | (priority << 1) | 1
  const check = (rows, permits = 1, threads = 2, together = undefined) =>
    checkHistory(fromRows(rows, threads), permits, together)
  const entry = (when, thread, request, weight = 1) => [
    [when, thread, 'request', request, ask(weight)],
    [when + 1, thread, 'acquire', request, 1],
    [when + 2, thread, 'release', request],
  ]

  it('accepts one holder after the other, and counts', () => {
    const rows = [...entry(1, 0, 0), ...entry(4, 1, 0), [7, 1, 'request', 1, ask()]]
    assert.deepEqual(check([...rows, [8, 1, 'giveUp', 1]]), [
      { requests: 1, acquired: 1, gaveUp: 0, waited: 1 },
      { requests: 2, acquired: 1, gaveUp: 1, waited: 1 },
    ])
  })

  it('accepts as many holders at once as there are permits, by weight', () => {
    const rows = [
      [1, 0, 'request', 0, ask(2)],
      [2, 0, 'acquire', 0, 0],
      [3, 1, 'request', 0, ask(3)],
      [4, 1, 'acquire', 0, 0],
      [5, 0, 'release', 0],
      [6, 1, 'release', 0],
    ]
    assert.ok(check(rows, 5))
    assert.throws(() => check(rows, 4), /^Error: oracle: exclusion: 5 of 4 taken at 4, by 1$/)
    assert.throws(() => check(rows, 1), /^Error: oracle: exclusion: 2 of 1 taken at 2, by 0$/)
  })

  it('accepts a newcomer of a higher priority, and callers that did not wait', () => {
    const overtaking = (priority, waited) => [
      [1, 0, 'request', 0, ask()],
      [2, 0, 'request', 1, ask(1, priority)],
      [3, 0, 'acquire', 1, waited],
      [4, 0, 'release', 1],
      [5, 0, 'acquire', 0, 1],
      [6, 0, 'release', 0],
    ]
    assert.ok(check(overtaking(1, 1)))
    assert.ok(check(overtaking(0, 0)))
    assert.throws(
      () => check(overtaking(0, 1)),
      /^Error: oracle: order: request 1 of thread 0 .* at 5$/,
    )
  })

  describe('of a read-write lock', () => {
    const writer = 100
    const checkReaders = (rows) => check(rows, writer, 2, 1)
    /** Both wait; the second is admitted first. */
    const overtaking = (first, second) => [
      [1, 0, 'request', 0, ask(first)],
      [2, 0, 'request', 1, ask(second)],
      [3, 0, 'acquire', 1, 1],
      [4, 0, 'release', 1],
      [5, 0, 'acquire', 0, 1],
      [6, 0, 'release', 0],
    ]
    const order = /^Error: oracle: order: request 1 of thread 0 .* at 5$/

    it('accepts readers together, in any order of their wake-ups', () => {
      assert.ok(checkReaders(overtaking(1, 1)))
    })

    it('rejects a reader before an older writer, and a writer before an older reader', () => {
      assert.throws(() => checkReaders(overtaking(writer, 1)), order)
      assert.throws(() => checkReaders(overtaking(1, writer)), order)
      assert.throws(() => checkReaders(overtaking(writer, writer)), order)
    })

    it('rejects a writer before an older reader even if a later reader was admitted long before', () => {
      const rows = [
        [1, 0, 'request', 0, ask(1)],
        [2, 0, 'request', 1, ask(1)],
        [3, 0, 'request', 2, ask(writer)],
        [4, 0, 'acquire', 1, 1],
        [5, 0, 'release', 1],
        [6, 0, 'acquire', 2, 1],
        [7, 0, 'release', 2],
        [8, 0, 'acquire', 0, 1],
        [9, 0, 'release', 0],
      ]
      assert.throws(
        () => checkReaders(rows),
        /^Error: oracle: order: request 2 of thread 0 .* at 8$/,
      )
    })

    it('rejects a writer beside a reader, and an upgrade beside a reader', () => {
      const beside = (weight) => [
        [1, 0, 'request', 0, ask(1)],
        [2, 0, 'acquire', 0, 0],
        [3, 1, 'request', 0, ask(1)],
        [4, 1, 'acquire', 0, 0],
        [5, 1, 'request', 1, ask(weight)],
        [6, 1, 'acquire', 1, 0],
        [7, 1, 'release', 1],
        [8, 1, 'release', 0],
        [9, 0, 'release', 0],
      ]
      assert.ok(checkReaders(beside(1)))
      assert.throws(() => checkReaders(beside(writer - 1)), /^Error: oracle: exclusion: /)
    })
  })

  const bad = {
    'order: a lower priority before an older request of a higher one': [
      [1, 0, 'request', 0, ask(1, 2)],
      [2, 0, 'request', 1, ask(1, 1)],
      [3, 0, 'acquire', 1, 1],
      [4, 0, 'release', 1],
      [5, 0, 'acquire', 0, 1],
      [6, 0, 'release', 0],
    ],
    'exclusion: two at once, of one thread': [
      [1, 0, 'request', 0, ask()],
      [2, 0, 'request', 1, ask()],
      [3, 0, 'acquire', 0, 0],
      [4, 0, 'acquire', 1, 0],
      [5, 0, 'release', 1],
      [6, 0, 'release', 0],
    ],
    'missing: a request without an end': [...entry(1, 0, 0), [4, 1, 'request', 0, ask()]],
    'missing: an acquire without a release': entry(1, 0, 0).slice(0, 2),
    'once: admitted twice': [...entry(1, 0, 0).slice(0, 2), [3, 0, 'acquire', 0, 1]],
    'once: released twice': [...entry(1, 0, 0), [4, 0, 'release', 0]],
    'once: admitted after giving up': [
      [1, 0, 'request', 0, ask()],
      [2, 0, 'giveUp', 0],
      [3, 0, 'acquire', 0, 1],
    ],
    'once: given up while admitted': [...entry(1, 0, 0).slice(0, 2), [3, 0, 'giveUp', 0]],
    'once: admitted without a request': [[1, 0, 'acquire', 0, 1]],
    'once: released without being admitted': [
      [1, 0, 'request', 0, ask()],
      [2, 0, 'release', 0],
    ],
    'once: requested twice': [
      [1, 0, 'request', 0, ask()],
      [2, 0, 'request', 0, ask()],
    ],
    'clock: a time twice': [...entry(1, 0, 0), [3, 1, 'request', 0, ask()]],
    'clock: a missing time': entry(1, 0, 0).toSpliced(1, 1),
    'clock: a thread whose time runs back': [...entry(2, 0, 0), [1, 0, 'request', 1, ask()]],
  }
  for (const [name, rows] of Object.entries(bad)) {
    it(`rejects ${name}`, () => {
      const [rule] = name.split(':')
      assert.throws(() => check(rows), new RegExp(`^Error: oracle: ${rule}: `))
    })
  }
})
