'use strict'
// The claims (confirmation.js) that the renewing thread confirms unless their callers release before. Most holds are shorter,
// and no command is sent for them. The claims lie in memory that both threads see, so that a blocked event loop loses none.
// A slot has one of these numbers, and each claim a number n of its own:
//
//    0   free
//    n   open: the event loop has admitted its caller
//   -n   taken: the other thread confirms it, and its answer makes the slot free
//
// The event loop makes a slot open, and free again when the caller releases. The other thread takes it (claim_watch.js).
//
// The event loop admits a waiter after an add(), often in a process that has slept, whose code is not in the processor's
// caches. So add() writes no JSON, and one timer serves many claims: JSON or a timer for each would take most of the time.
const { outside } = require('./outside.js')

/** There are few, so that a slow server can confirm all of them in time. */
const slots = 8
/** A request whose text is longer than this has no place in a slot. */
const mostLetters = 400

/** The first words of the memory: whether the other thread can confirm, and how it looks at the slots. */
const canConfirm = 0
const watching = 1
/** It does not look, it looks, or it looks and a claim has come since its last look. */
const [asleep, awake, needed] = [0, 1, 2]
const firstNumber = 2
const firstLength = firstNumber + slots
const words = firstLength + slots
const lettersAt = words * Int32Array.BYTES_PER_ELEMENT

/** The memory, as both threads see it. */
class Slots {
  #words
  #letters

  constructor(buffer = new SharedArrayBuffer(lettersAt + slots * mostLetters * 2)) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer, 0, words)
    this.#letters = new Uint16Array(buffer, lettersAt)
  }

  get canConfirm() {
    return Atomics.load(this.#words, canConfirm) === 1
  }

  set canConfirm(can) {
    Atomics.store(this.#words, canConfirm, can ? 1 : 0)
  }

  /** A claim has come. Returns whether the other thread has to be woken. */
  need() {
    return Atomics.exchange(this.#words, watching, needed) === asleep
  }

  /** The other thread looks. Returns whether a claim has come since its last look. */
  look() {
    return Atomics.exchange(this.#words, watching, awake) === needed
  }

  /** Returns false if a claim has come since the last look. */
  sleep() {
    return Atomics.compareExchange(this.#words, watching, awake, asleep) === awake
  }

  number(slot) {
    return Atomics.load(this.#words, firstNumber + slot)
  }

  setNumber(slot, number) {
    Atomics.store(this.#words, firstNumber + slot, number)
  }

  /** Returns whether the slot had the number `from`. */
  change(slot, from, to) {
    return Atomics.compareExchange(this.#words, firstNumber + slot, from, to) === from
  }

  /** Returns whether the request fits. */
  write(slot, request, begun) {
    const text = textOf(request, begun)
    const { length } = text
    if (length > mostLetters) return false
    const start = slot * mostLetters
    for (let i = 0; i < length; i++) this.#letters[start + i] = text.charCodeAt(i)
    this.#words[firstLength + slot] = length
    return true
  }

  read(slot) {
    const start = slot * mostLetters
    const end = start + this.#words[firstLength + slot]
    return claimIn(String.fromCharCode(...this.#letters.subarray(start, end)))
  }
}

/** A request to confirm, without what is only for those that wait. The key, which may have any letter, is the last word. */
const textOf = ({ session, id, units, capacity, claim, maxHold, minHold, key }, begun) =>
  `${session} ${id} ${begun} ${units} ${capacity} ${claim} ${maxHold} ${minHold} ${key}`

/** { request, begun } */
function claimIn(text) {
  const [, session, id, numbers, key] = /^(\S+) (\S+) ((?:[\d.]+ ){6})(.*)$/s.exec(text)
  const [begun, units, capacity, claim, maxHold, minHold] = numbers.split(' ').map(Number)
  const times = { claim, maxHold, minHold }
  return {
    request: { session, id, units, capacity, ...times, key, wait: true, first: false },
    begun,
  }
}

/** The event loop's side. */
class Claims {
  #slots = new Slots()
  #wake
  #clock
  #patience
  #timer
  #free = Array.from({ length: slots }, (_, slot) => slot)
  #last = 0
  /** By slot: `resolve` and `late` of a claim, and how often a timer has found it here. */
  #unanswered = new Map()

  /** `wake()` makes the other thread look at the slots. A claim without an answer is late after one or two times `patience`. */
  constructor({ wake, clock, patience }) {
    this.#wake = wake
    this.#clock = clock
    this.#patience = patience
  }

  get buffer() {
    return this.#slots.buffer
  }

  /**
   * Has the other thread confirm `request`, whose grant came at the time `begun`. Returns { answer, withdraw() }, or
   * undefined if the thread cannot confirm. The promise `answer` resolves as that of the driver's confirm(), with the end
   * `until` of the hold, or to undefined if no attempt succeeds. withdraw() returns whether it came before the thread took
   * the claim: then the answer stays unsettled. Calls late() once, if an attempt fails or the thread has no answer.
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

  /** An attempt of the other thread has failed. */
  failed(slot) {
    const claim = this.#unanswered.get(slot)
    if (claim === undefined || claim.looks >= 2) return
    claim.looks = 2
    claim.late()
  }

  /** The other thread has an answer to the claim in `slot`, or undefined if it has none in time. */
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
