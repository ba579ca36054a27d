'use strict'
// The claims (confirmation.js) that the renewing thread confirms, unless their callers release earlier. Most callers
// do, and no command is sent for them. The claims lie in memory that both threads share, so that none is lost when the
// event loop is blocked. Each claim has a different number n, and a slot has one of these:
//
//    0   free
//    n   open: the event loop has admitted the caller of claim n
//   -n   taken: the renewing thread confirms claim n, and its answer makes the slot free
//
// The event loop makes a slot open, and free again when the caller releases. The renewing thread takes it
// (claim_watch.js).
//
// The waiter is admitted after add(), often in a process that has slept, so that its code is not in the processor's
// caches. So add() must be fast: it writes no JSON, and one timer serves many claims.
const { outside } = require('./outside.js')

/** The number of slots. There are few, so that a slow server can confirm all claims in time. */
const slots = 8
/** The longest text of a request that fits into a slot. */
const mostLetters = 400
const slotBytes = mostLetters * Uint16Array.BYTES_PER_ELEMENT

/** The first two words of the memory: whether the renewing thread can confirm, and whether it polls the slots. */
const canConfirm = 0
const watching = 1
/** The renewing thread does not poll; polls; or polls, and a claim has been added since its last poll. */
const [asleep, awake, needed] = [0, 1, 2]
const firstNumber = 2
const firstLength = firstNumber + slots
const words = firstLength + slots
const lettersAt = words * Int32Array.BYTES_PER_ELEMENT

/** The memory that both threads share. */
class Slots {
  #words
  #letters

  constructor(buffer = new SharedArrayBuffer(lettersAt + slots * slotBytes)) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer, 0, words)
    this.#letters = Buffer.from(buffer, lettersAt)
  }

  get canConfirm() {
    return Atomics.load(this.#words, canConfirm) === 1
  }

  set canConfirm(can) {
    Atomics.store(this.#words, canConfirm, can ? 1 : 0)
  }

  /** Called when a claim has been added. Returns whether the renewing thread has to be woken. */
  need() {
    return Atomics.exchange(this.#words, watching, needed) === asleep
  }

  /** Called at each poll. Returns whether a claim has been added since the last one. */
  look() {
    return Atomics.exchange(this.#words, watching, awake) === needed
  }

  /** Stops the polling. Returns false instead if a claim has been added since the last poll. */
  sleep() {
    return Atomics.compareExchange(this.#words, watching, awake, asleep) === awake
  }

  number(slot) {
    return Atomics.load(this.#words, firstNumber + slot)
  }

  setNumber(slot, number) {
    Atomics.store(this.#words, firstNumber + slot, number)
  }

  /** Changes the number of the slot from `from` to `to`. Returns false if it was another one. */
  change(slot, from, to) {
    return Atomics.compareExchange(this.#words, firstNumber + slot, from, to) === from
  }

  /** Writes the request into the slot. Returns false if it does not fit. */
  write(slot, request, begun) {
    const text = textOf(request, begun)
    if (text.length > mostLetters) return false
    this.#words[firstLength + slot] = this.#letters.write(text, slot * slotBytes, 'utf16le')
    return true
  }

  read(slot) {
    const start = slot * slotBytes
    const end = start + this.#words[firstLength + slot]
    return claimIn(this.#letters.toString('utf16le', start, end))
  }
}

/**
 * Returns a request as text, without what only a waiting request needs. The key is last, because it may contain any
 * letter.
 */
const textOf = ({ session, id, units, capacity, claim, maxHold, minHold, key }, begun) =>
  `${session} ${id} ${begun} ${units} ${capacity} ${claim} ${maxHold} ${minHold} ${key}`

function claimIn(text) {
  const [, session, id, numbers, key] = /^(\S+) (\S+) ((?:[\d.]+ ){6})(.*)$/s.exec(text)
  const [begun, units, capacity, claim, maxHold, minHold] = numbers.split(' ').map(Number)
  const times = { claim, maxHold, minHold }
  return {
    request: { session, id, units, capacity, ...times, key, wait: true, first: false },
    begun,
  }
}

/** The claims, on the side of the event loop. */
class Claims {
  #slots = new Slots()
  #wake
  #clock
  #patience
  #timer
  #free = Array.from({ length: slots }, (_, slot) => slot)
  #last = 0
  /** The claims by slot: { resolve, late, looks }. `looks` counts how often the timer has found the claim here. */
  #unanswered = new Map()

  /** `wake()` makes the renewing thread poll. A claim without an answer is late after one or two times `patience`. */
  constructor({ wake, clock, patience }) {
    this.#wake = wake
    this.#clock = clock
    this.#patience = patience
  }

  get buffer() {
    return this.#slots.buffer
  }

  /**
   * Makes the renewing thread confirm `request`, whose grant arrived at the time `begun`. Returns undefined if it
   * cannot. Otherwise returns { answer, withdraw() }. The promise `answer` resolves as the driver's confirm() does,
   * plus the end `until` of the hold, or to undefined if no attempt succeeds. withdraw() returns true if the thread has
   * not taken the claim; then the answer never settles. Calls late() once if an attempt fails or there is no answer in
   * time.
   */
  add(request, begun, late) {
    const slot = this.#free.at(-1)
    if (slot === undefined || !this.#slots.canConfirm) return undefined
    if (!this.#slots.write(slot, request, begun)) return undefined
    this.#free.pop()
    this.#last = (this.#last % 0x7f_ff_ff_ff) + 1
    const number = this.#last
    const answer = new Promise((resolve) => {
      this.#unanswered.set(slot, { resolve, late, looks: 0 })
    })
    if (this.#timer === undefined) this.#lookLater()
    this.#slots.setNumber(slot, number)
    if (this.#slots.need()) this.#wake()
    const withdraw = () => {
      const isOpen = this.#slots.change(slot, number, 0)
      if (isOpen) this.#release(slot)
      return isOpen
    }
    return { answer, withdraw }
  }

  #lookLater() {
    this.#timer = outside(() => this.#clock.setTimeout(() => this.#look(), this.#patience))
    this.#timer.unref()
  }

  #look() {
    this.#timer = undefined
    let isAnyNew = false
    for (const claim of [...this.#unanswered.values()]) {
      claim.looks++
      if (claim.looks === 1) isAnyNew = true
      if (claim.looks === 2) claim.late()
    }
    if (isAnyNew && this.#timer === undefined) this.#lookLater()
  }

  /** Called when an attempt of the renewing thread has failed. */
  failed(slot) {
    const claim = this.#unanswered.get(slot)
    if (claim === undefined || claim.looks >= 2) return
    claim.looks = 2
    claim.late()
  }

  /** Called with the answer to the claim in `slot`, or with undefined if there was none in time. */
  answered(slot, answer) {
    const claim = this.#unanswered.get(slot)
    this.#slots.setNumber(slot, 0)
    this.#release(slot)
    claim?.resolve(answer)
  }

  #release(slot) {
    this.#unanswered.delete(slot)
    this.#free.push(slot)
  }
}

module.exports = { Claims, Slots, slots }
