'use strict'
// The waiters of one lock: higher priorities first, first come first served within a priority.
//
//   others   7: [A, B]   3: [C]      a list per priority other than 0, in a heap with the highest on top
//   usual    0: [D, E, F ...]        the list of priority 0, which nearly every waiter has: it needs no look-up
//
// push, remove and head take constant time; with k priorities in use besides 0, O(log k).

const { checkStack, checkStackToRelease } = require('./stack.js')

class List {
  constructor(priority) {
    this.priority = priority
    this.head = null
    this.tail = null
    /** Its index in the heap. */
    this.at = 0
  }

  push(waiter) {
    const { tail } = this
    waiter.previous = tail
    if (tail === null) this.head = waiter
    else tail.next = waiter
    this.tail = waiter
  }

  remove(waiter) {
    const { previous, next } = waiter
    if (previous === null) this.head = next
    else previous.next = next
    if (next === null) this.tail = previous
    else next.previous = previous
    waiter.previous = null
    waiter.next = null
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

  find(priority) {
    return this.#byPriority.get(priority)
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
    const { priority, previous } = waiter
    const list = priority === 0 ? this.usual : this.others.find(priority)
    return previous !== null || list?.head === waiter
  }

  /** The next waiter, or null. */
  get head() {
    if (this.others === null) return this.usual.head
    const { top } = this.others
    if (top === undefined) return this.usual.head
    return top.priority > 0 || this.usual.head === null ? top.head : this.usual.head
  }

  /** Every waiter, in the order of admission. */
  *[Symbol.iterator]() {
    const lists = [this.usual, ...(this.others?.lists ?? [])]
    lists.sort((a, b) => b.priority - a.priority)
    for (const { head } of lists) {
      for (let waiter = head; waiter !== null; waiter = waiter.next) yield waiter
    }
  }
}

module.exports = { WaitQueue }
