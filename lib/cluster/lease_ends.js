'use strict'
// The ends of the held leases, in a binary heap with the earliest end on top. Adding and removing a lease takes O(log
// n), finding the next end O(1).

/** A lease in the heap, with its end. */
class Place {
  constructor(lease, index) {
    this.lease = lease
    this.at = lease.until
    this.index = index
  }
}

class LeaseEnds {
  #heap = []
  #places = new Map()

  has(lease) {
    return this.#places.has(lease)
  }

  /** Returns the earliest end, or Infinity without a lease. */
  first() {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY
  }

  /** Adds `lease`, or moves it if its end has moved. */
  set(lease) {
    this.delete(lease)
    const place = new Place(lease, this.#heap.length)
    this.#places.set(lease, place)
    this.#heap.push(place)
    this.#rise(place)
  }

  delete(lease) {
    const place = this.#places.get(lease)
    if (place === undefined) return
    this.#places.delete(lease)
    const last = this.#heap.pop()
    if (last === place) return
    this.#put(last, place.index)
    this.#rise(last)
    this.#sink(last)
  }

  /** Returns the leases that have ended by `time`, in the order of their ends. Keeps them in the heap. */
  due(time) {
    const due = []
    while (this.first() <= time) {
      const [{ lease }] = this.#heap
      this.delete(lease)
      due.push(lease)
    }
    for (const lease of due) this.set(lease)
    return due
  }

  #put(place, index) {
    place.index = index
    this.#heap[index] = place
  }

  #rise(place) {
    while (place.index > 0) {
      const above = this.#heap[(place.index - 1) >> 1]
      if (above.at <= place.at) return
      this.#swap(place, above)
    }
  }

  #sink(place) {
    for (;;) {
      const left = 2 * place.index + 1
      const [one, other] = [this.#heap[left], this.#heap[left + 1]]
      const below = other?.at < one?.at ? other : one
      if (below === undefined || below.at >= place.at) return
      this.#swap(place, below)
    }
  }

  #swap(one, other) {
    const { index } = one
    this.#put(one, other.index)
    this.#put(other, index)
  }
}

module.exports = { LeaseEnds }
