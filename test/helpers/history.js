'use strict'
// Records of threads' operations on a lock, and the rules that they must satisfy. Each thread
// writes to its own memory, with the time of a common clock. An event is four numbers: when, what,
// of which request, detail. The request is stamped before the call, the acquire and the release
// while the lock is held. So two holds whose stamps do not overlap did not overlap.
// holds whose stamps do not overlap did not overlap.

const kinds = { request: 1, acquire: 2, release: 3, giveUp: 4 }
const names = Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [kind, name]))
const size = 4

/** For one thread to write to: `clock` and `log` are Int32Arrays in shared memory. */
class Recorder {
  #clock
  #log
  #length = 0
  #requests = 0

  constructor({ clock, log }) {
    this.#clock = clock
    this.#log = log
  }

  /** `isOrdered`: whether the order of requests applies to it; priorities are 0 to 255. */
  request(weight, { priority = 0, isOrdered = false } = {}) {
    const request = this.#requests++
    this.#note(kinds.request, request, (weight << 9) | (priority << 1) | (isOrdered ? 1 : 0))
    return request
  }

  acquire(request, waited) {
    this.#note(kinds.acquire, request, waited ? 1 : 0)
  }

  release(request) {
    this.#note(kinds.release, request, 0)
  }

  giveUp(request) {
    this.#note(kinds.giveUp, request, 0)
  }

  #note(kind, request, detail) {
    const at = this.#length
    this.#length += size
    // Zero marks unwritten entries.
    this.#log[at] = Atomics.add(this.#clock, 0, 1) + 1
    this.#log[at + 1] = kind
    this.#log[at + 2] = request
    this.#log[at + 3] = detail
  }
}

/** Memory for `threads` histories of `events` each. */
function createHistory(threads, events) {
  const shared = (length) => new Int32Array(new SharedArrayBuffer(length * 4))
  return {
    clock: shared(1),
    logs: Array.from({ length: threads }, () => shared(events * size)),
  }
}

/** A history as rows, for histories written by hand: [when, thread, what, request, detail]. */
function fromRows(rows, threads) {
  const history = createHistory(threads, rows.length)
  const lengths = new Array(threads).fill(0)
  for (const [when, thread, what, request, detail = 0] of rows) {
    history.logs[thread].set([when, kinds[what], request, detail], lengths[thread])
    lengths[thread] += size
  }
  history.clock[0] = rows.length
  return history
}

/** All events by their time: the thread of each, and its position in that log. */
function merge({ clock, logs }) {
  const count = clock[0]
  const threadAt = new Int8Array(count + 1).fill(-1)
  const placeAt = new Int32Array(count + 1)
  for (const [thread, log] of logs.entries()) {
    let last = 0
    for (let at = 0; at < log.length && log[at] !== 0; at += size) {
      const when = log[at]
      if (when <= last || when > count || threadAt[when] !== -1) {
        throw new Error(
          `oracle: clock: the time ${when} of thread ${thread} is out of order or not the only`,
        )
      }
      last = when
      threadAt[when] = thread
      placeAt[when] = at
    }
  }
  const missing = threadAt.indexOf(-1, 1)
  if (missing !== -1)
    throw new Error(`oracle: clock: no thread wrote down what happened at ${missing}`)
  return { count, threadAt, placeAt }
}

/** The requests of one thread, as they come: each request ends once, in its turn. */
class Requests {
  #thread
  #log
  #details = []
  #states = []
  #times = []
  #together
  /**
   * By priority: when the last waiter, in the order of requests, was admitted. Of all waiters, and
   * of those that are not `together`.
   */
  #order = []
  #alone = []

  constructor(thread, log, together) {
    this.#thread = thread
    this.#log = log
    this.#together = together
  }

  /** How much of the lock this event takes (or, negative, puts back). */
  take(when, at) {
    const [kind, request, detail] = this.#log.subarray(at + 1, at + size)
    const before = this.#states[request]
    const from = { request: undefined, acquire: 'request', giveUp: 'request', release: 'acquire' }
    const name = names[kind]
    if (name === undefined || before !== from[name]) {
      const whose = `request ${request} of thread ${this.#thread}`
      throw new Error(`oracle: once: ${name} at ${when} of ${whose}, after ${before ?? 'nothing'}`)
    }
    this.#states[request] = name
    if (name === 'request') this.#details[request] = detail
    const weight = this.#details[request] >> 9
    if (name === 'acquire') {
      if (this.#details[request] & 1 && detail === 1) this.#times[request] = when
      return weight
    }
    return name === 'release' ? -weight : 0
  }

  end() {
    const open = this.#states.findIndex((state) => state === 'request' || state === 'acquire')
    if (open !== -1) {
      const what = `${this.#states[open]} ${open} of thread ${this.#thread}`
      throw new Error(`oracle: missing: ${what} has no end`)
    }
    const counts = { requests: this.#states.length, acquired: 0, gaveUp: 0, waited: 0 }
    for (const [request, state] of this.#states.entries()) {
      counts[state === 'giveUp' ? 'gaveUp' : 'acquired']++
      if (this.#times[request] === undefined) continue
      counts.waited++
      this.#checkOrder(request, this.#times[request])
    }
    return counts
  }

  /** Called with requests in their order. */
  #checkOrder(request, when) {
    const priority = (this.#details[request] >> 1) & 255
    const isTogether = this.#details[request] >> 9 === this.#together
    const before = isTogether ? this.#alone : this.#order
    for (let higher = priority; higher < before.length; higher++) {
      if (before[higher] > when) {
        const whose = `request ${request} of thread ${this.#thread}`
        throw new Error(
          `oracle: order: ${whose} went in before an older one that did at ${before[higher]}`,
        )
      }
    }
    noteLast(this.#order, priority, when)
    if (!isTogether) noteLast(this.#alone, priority, when)
  }
}

function noteLast(times, priority, when) {
  for (let level = times.length; level <= priority; level++) times[level] = 0
  times[priority] = Math.max(times[priority], when)
}

/**
 * A read-write lock has as many permits as its writers weigh, and its readers weigh 1. Requests of weight
 * `together` are admitted beside each other, and learn of it in any order.
 *
 * Throws an error that begins with the name of the violated rule: `clock`, `once`,
 * `exclusion`, `missing` or `order`. Returns for each thread { requests, acquired, gaveUp, waited }.
 */
function checkHistory(history, permits, together) {
  const { count, threadAt, placeAt } = merge(history)
  const all = history.logs.map((log, thread) => new Requests(thread, log, together))
  let taken = 0
  for (let when = 1; when <= count; when++) {
    taken += all[threadAt[when]].take(when, placeAt[when])
    if (taken > permits) {
      throw new Error(
        `oracle: exclusion: ${taken} of ${permits} taken at ${when}, by ${threadAt[when]}`,
      )
    }
  }
  return all.map((requests) => requests.end())
}

module.exports = { checkHistory, createHistory, fromRows, Recorder }
