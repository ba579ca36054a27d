'use strict'
// The waiters of one lock: higher priorities first, first come first served within a priority.
//
//   others   7: [A, B]   3: [C]      a list per priority other than 0, in a heap with the highest on top
//   usual    0: [D, E, F ...]        the list of priority 0, which nearly every waiter has: it needs no look-up
//
// push, remove and head take constant time; with k priorities in use besides 0, O(log k). Of push and remove that is
// the mean of all calls: a full ring is replaced, and the head may have to pass the gaps behind it.

const { checkStack, checkStackToRelease } = require('./stack.js')

const smallestRing = 8
/** A list keeps a ring of up to this length, however few its waiters. */
const longestKept = 32
/** The ring of a list that never had a waiter, or had very many. Nothing is ever put into it. */
const none = new Array(1).fill(null)
/** The position of a waiter that has left. */
const gone = -1

/**
 * Waiters in the order of their arrival, in a ring buffer. A waiter that leaves from between the others leaves null. A
 * linked list would make V8's scavenger, which follows a chain of links slowly, take twice as long for many waiters.
 *
 * Invariants: 1. ring.length is a power of 2. 2. ring[end] is null, and ring[first] only if the list is empty.
 */
class List {
  constructor(priority) {
    this.priority = priority
    this.size = 0
    this.ring = none
    /** The position of the head, and the one behind the last waiter. */
    this.first = 0
    this.end = 0
    /** Its index in the heap. */
    this.at = 0
  }

  get head() {
    return this.ring[this.first]
  }

  push(waiter) {
    const { length } = this.ring
    const isFull = ((this.end + 1) & (length - 1)) === this.first
    if (isFull || length > longestKept + 8 * this.size) this.#renew()
    const { ring, end } = this
    ring[end] = waiter
    waiter.position = end
    this.end = (end + 1) & (ring.length - 1)
    this.size++
  }

  remove(waiter) {
    const { ring, end } = this
    ring[waiter.position] = null
    waiter.position = gone
    this.size--
    let { first } = this
    while (first !== end && ring[first] === null) first = (first + 1) & (ring.length - 1)
    this.first = first
    if (this.size > 0 || ring.length <= longestKept) return
    this.ring = none
    this.first = 0
    this.end = 0
  }

  /** Moves the waiters into a ring with room for as many more. */
  #renew() {
    const waiters = this.waiters()
    let length = smallestRing
    while (length <= 2 * this.size) length *= 2
    const ring = new Array(length).fill(null)
    // From here on nothing may fail near the end of the stack, so there are no calls.
    for (let at = 0; at < this.size; at++) {
      waiters[at].position = at
      ring[at] = waiters[at]
    }
    this.ring = ring
    this.first = 0
    this.end = this.size
  }

  /** Returns the waiters in their order. */
  waiters() {
    const { ring, first } = this
    return [...ring.slice(first), ...ring.slice(0, first)].filter((waiter) => waiter !== null)
  }
}

/** A binary heap of lists. Each list knows its index, so that an empty list can be removed from anywhere. */
class PriorityHeap {
  #lists = []
  #byPriority = new Map()

  get top() {
    return this.#lists[0]
  }

  get lists() {
    return this.#lists
  }

  // The next two methods must not fail halfway.

  listOf(priority) {
    checkStack()
    let list = this.#byPriority.get(priority)
    if (list === undefined) {
      list = new List(priority)
      this.#byPriority.set(priority, list)
      this.#rise(list, this.#lists.length)
    }
    return list
  }

  remove(waiter) {
    checkStackToRelease()
    const list = this.#byPriority.get(waiter.priority)
    list.remove(waiter)
    if (list.head !== null) return
    this.#byPriority.delete(list.priority)
    const last = this.#lists.pop()
    if (last === list) return
    this.#rise(last, list.at)
    this.#sink(last)
  }

  #rise(list, index) {
    let at = index
    while (at > 0) {
      const parent = this.#lists[(at - 1) >> 1]
      if (parent.priority >= list.priority) break
      this.#put(parent, at)
      at = (at - 1) >> 1
    }
    this.#put(list, at)
  }

  #sink(list) {
    const { length } = this.#lists
    let at = list.at
    for (let child = 2 * at + 1; child < length; child = 2 * at + 1) {
      const other = child + 1
      const isOtherHigher =
        other < length && this.#lists[other].priority > this.#lists[child].priority
      const higher = this.#lists[isOtherHigher ? other : child]
      if (higher.priority <= list.priority) break
      const freed = higher.at
      this.#put(higher, at)
      at = freed
    }
    this.#put(list, at)
  }

  #put(list, at) {
    this.#lists[at] = list
    list.at = at
  }
}

class WaitQueue {
  constructor() {
    this.size = 0
    this.usual = new List(0)
    /** Lists of priorities other than 0, created for the first such waiter. */
    this.others = null
  }

  push(waiter) {
    const { priority } = waiter
    if (priority === 0) {
      this.usual.push(waiter)
    } else {
      this.others ??= new PriorityHeap()
      this.others.listOf(priority).push(waiter)
    }
    this.size++
  }

  remove(waiter) {
    if (waiter.priority === 0) this.usual.remove(waiter)
    else this.others.remove(waiter)
    this.size--
  }

  /** Whether `waiter`, once queued, is still in the queue. */
  has(waiter) {
    return waiter.position !== gone
  }

  /** The next waiter, or null. */
  get head() {
    if (this.others === null) return this.usual.head
    const { top } = this.others
    if (top === undefined) return this.usual.head
    return top.priority > 0 || this.usual.head === null ? top.head : this.usual.head
  }

  /** Every waiter, in the order of admission. */
  waiters() {
    const lists = [this.usual, ...(this.others?.lists ?? [])]
    return lists.sort((a, b) => b.priority - a.priority).flatMap((list) => list.waiters())
  }
}

module.exports = { WaitQueue }
