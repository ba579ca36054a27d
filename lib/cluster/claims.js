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

const slots = 64
/** Of the request in a slot, as JSON: a longer one has no place. */
const mostBytes = 512

/** The first words of the memory: whether the other thread can confirm, and how it looks at the slots. */
const canConfirm = 0
const watching = 1
/** It does not look, it looks, or it looks and a claim has come since its last look. */
const [asleep, awake, needed] = [0, 1, 2]
const firstNumber = 2
const firstLength = firstNumber + slots
const words = firstLength + slots
const textAt = words * Int32Array.BYTES_PER_ELEMENT

/** The memory, as both threads see it. */
class Slots {
  #words
  #text

  constructor(buffer = new SharedArrayBuffer(textAt + slots * mostBytes)) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer, 0, words)
    this.#text = Buffer.from(buffer, textAt, slots * mostBytes)
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
  write(slot, request) {
    const text = JSON.stringify(request)
    const length = Buffer.byteLength(text)
    if (length > mostBytes) return false
    this.#text.write(text, slot * mostBytes)
    this.#words[firstLength + slot] = length
    return true
  }

  read(slot) {
    const start = slot * mostBytes
    const end = start + this.#words[firstLength + slot]
    return JSON.parse(this.#text.toString('utf8', start, end))
  }
}

/** The event loop's side. */
class Claims {
  #slots = new Slots()
  #wake
  #free = Array.from({ length: slots }, (_, slot) => slot)
  #last = 0
  /** The functions that settle the promise of a claim, by its slot. */
  #unanswered = new Map()

  /** `wake()` makes the other thread look at the slots. */
  constructor(wake) {
    this.#wake = wake
  }

  get buffer() {
    return this.#slots.buffer
  }

  /**
   * Has the other thread confirm `request`. Returns { answer, withdraw() }, or undefined if the thread cannot: `answer` is a
   * promise as that of the driver's confirm(), with the time `sent` of the command. withdraw() returns whether
   * it came before the thread has taken the claim: then the answer stays unsettled.
   */
  add(request) {
    const slot = this.#free.at(-1)
    if (slot === undefined || !this.#slots.canConfirm) return undefined
    if (!this.#slots.write(slot, request)) return undefined
    this.#free.pop()
    this.#last = (this.#last % 0x7f_ff_ff_ff) + 1
    const number = this.#last
    const answer = new Promise((resolve, reject) => {
      this.#unanswered.set(slot, { resolve, reject })
    })
    this.#slots.setNumber(slot, number)
    if (this.#slots.need()) this.#wake()
    const withdraw = () => {
      const isOpen = this.#slots.change(slot, number, 0)
      if (isOpen) this.#release(slot)
      return isOpen
    }
    return { answer, withdraw }
  }

  /** The other thread has an answer to the claim in `slot`, or an error. */
  answered(slot, answer, error) {
    const settle = this.#release(slot)
    this.#slots.setNumber(slot, 0)
    if (error === undefined) settle?.resolve(answer)
    else settle?.reject(error)
  }

  #release(slot) {
    const settle = this.#unanswered.get(slot)
    this.#unanswered.delete(slot)
    this.#free.push(slot)
    return settle
  }
}

module.exports = { Claims, Slots, slots }
