'use strict'
// What is known of each promise, by its number of async_hooks: a WeakMap of all promises would take longer than all
// else. A promise that lives long must not keep anything of this instance, which would keep its vm context.
const { executionAsyncId, executionAsyncResource } = require('node:async_hooks')

/** Of steps in chains with holds, and of holds that are doing something: some promises never settle. */
const mostKnown = 10_000
/** What stands in for a set of a link as long as it is empty: a free lock is taken and released without one. */
const nothing = new Set()
const noneForgotten = new Map()

/** `set` with `one` in it, which is another set where that was none. */
const withOne = (set, one) => (set === nothing ? new Set([one]) : set.add(one))

class Step {
  constructor(id, link, resource) {
    this.id = id
    this.link = link
    /** That of a timer, a request ..., and of no promise. */
    this.resource = resource
    /** That of a reaction which has not run to its end. */
    this.promise = undefined
    /** A reaction that has not run yet. */
    this.isPending = false
    this.isSettled = false
    /** Where a promise was made that is no reaction. */
    this.site = undefined
    /** Of a reaction: the step of the promise that it waits for, where that is known. */
    this.parent = undefined
    /** Of a promise that is open: the number of the run that goes on, or else another one. */
    this.openIn = 0
    /** A promise that was open before it. */
    this.closed = undefined
    /** The promises that may be made by this reaction, and the step that has made it. */
    this.within = undefined
    this.maker = undefined
    /** Reactions that have yet to run, and that this promise is taken to depend on. */
    this.inside = undefined
    /** Too many of them to know. */
    this.isCrowded = false
    /** Of the promise of an acquire: the claim that waits, and then the link that reactions to it run in. */
    this.wait = undefined
    this.handed = undefined
    /** It has been given a hold by the run that is going on. */
    this.isHanded = false
  }
}

/**
 * Steps by their numbers: the latest that have come and have not gone, no more than `most`. The older half goes at
 * once: to look for the oldest in a Map takes longer with each that has gone from there.
 */
class Latest {
  #half
  #young = new Map()
  #old = noneForgotten

  constructor(most) {
    this.#half = most / 2
  }

  get(id) {
    return this.#young.get(id) ?? this.#old.get(id)
  }

  delete(id) {
    if (!this.#young.delete(id)) this.#old.delete(id)
  }

  /** Returns those that are forgotten for it, as a Map. */
  add(step) {
    this.#old.delete(step.id)
    this.#young.set(step.id, step)
    if (this.#young.size < this.#half) return noneForgotten
    const forgotten = this.#old
    this.#old = this.#young
    this.#young = new Map()
    return forgotten
  }
}

/** Steps of promises in chains with holds, or that give one, or that wait for a lock. */
const known = new Latest(mostKnown)
/** Of other chains: what is made of an acquire passes through them. */
const others = new Latest(2 * mostKnown)
/** Steps of resources in chains with holds, and of reactions that take long: these are too slow for all others. */
const marks = new WeakMap()

const stepBy = (id) => known.get(id) ?? others.get(id)

/** The step that is running, if it is known. */
const running = () => stepBy(executionAsyncId()) ?? marks.get(executionAsyncResource())

/** Others may react to the promise of `step`, which is in a chain with a hold or gives one. */
function learn(step, among = known) {
  for (const forgotten of among.add(step).values()) {
    forgotten.handed?.givers.delete(forgotten)
    if (forgotten.promise !== undefined) marks.set(forgotten.promise, forgotten)
  }
}

const keep = (step) => learn(step, step.link === null ? others : known)

function forget({ id }) {
  known.delete(id)
  others.delete(id)
}

/** A promise that has been forgotten since it has settled. */
function settled(id) {
  const step = new Step(id, null, undefined)
  step.isSettled = true
  return step
}

class Itself {
  constructor(object) {
    // biome-ignore lint/correctness/noConstructorReturn: the fields of a derived class are those of `object`
    return object
  }
}

/** A promise that is no reaction: its number is in a private field, which console.log() does not show. */
class Numbered extends Itself {
  #id

  constructor(promise, id) {
    super(promise)
    this.#id = id
  }

  /** Undefined where it was made before steps were kept. */
  static stepOf(promise) {
    return #id in promise ? (stepBy(promise.#id) ?? settled(promise.#id)) : undefined
  }
}

module.exports = {
  forget,
  keep,
  known,
  learn,
  marks,
  mostKnown,
  nothing,
  Numbered,
  running,
  Step,
  stepBy,
  withOne,
}
