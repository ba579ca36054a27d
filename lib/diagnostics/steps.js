'use strict'
// The steps of promises, by their async ids. A WeakMap of all promises would cost more than everything else here.
// Promises do not refer to their steps, because a long-lived promise would keep the vm context of this instance alive.
const { executionAsyncId, executionAsyncResource } = require('node:async_hooks')
const { byHand } = require('./site.js')

/** How many steps in chains with holds, and how many doings of a hold, are kept. Some promises never settle. */
const mostKnown = 10_000
/** The empty set of every link, so that acquiring and releasing a free lock makes no set. */
const nothing = new Set()
const noneForgotten = new Map()

/** Adds `one` to `set`, or to a new set if `set` is `nothing`. Returns that set. */
const withOne = (set, one) => (set === nothing ? new Set([one]) : set.add(one))

class Step {
  constructor(id, link) {
    this.id = id
    this.link = link
    /** Whether the step is of a timer, a request, a socket ... It does not refer to it, so that it can be collected. */
    this.isResource = false
    /** Whether the resource calls back once. */
    this.isOnce = false
    /** The resource if it is a timer of Node.js, which has a property that tells whether it is destroyed. */
    this.timer = undefined
    /** The promise of a reaction that has not run to its end. */
    this.promise = undefined
    /** Whether the step is a reaction that has not run yet. */
    this.isPending = false
    this.isSettled = false
    /** Where the promise was made, unless it is a reaction. */
    this.site = undefined
    /** The step of the promise that a reaction waits for, if known. */
    this.parent = undefined
    /** The number of the current run if the promise is open. */
    this.openIn = 0
    /** The step of the promise that this reaction has closed. */
    this.closed = undefined
    /** The promises that this reaction may settle, and the step that made it. */
    this.within = undefined
    this.maker = undefined
    /** Pending reactions that may settle this promise. */
    this.inside = undefined
    /** Whether there were too many reactions to keep in `inside`. */
    this.isCrowded = false
    /** For the promise of an acquire: the wait, and then the link in which reactions to the promise run. */
    this.wait = undefined
    this.handed = undefined
    /** Whether `handed` is an assumption, and whether `link` is. */
    this.isGuess = false
    this.isUnsure = false
    /** Whether the current run has been given a hold. */
    this.isHanded = false
  }
}

/**
 * The latest steps by their ids, at most `most`. Drops the older half at once, because finding the oldest entry of a
 * Map takes longer with every deleted entry before it.
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

  /** Adds `step`. Returns a Map of the steps that it has dropped for that. */
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

/** Steps of promises that are in chains with holds, give a hold, or wait for a lock. */
const known = new Latest(mostKnown)
/** Steps outside of such chains. A hold may pass through them to the caller of an acquire. */
const others = new Latest(2 * mostKnown)
/** Steps of resources in chains with holds, and of slow reactions. A WeakMap is too slow for all other steps. */
const marks = new WeakMap()

const stepBy = (id) => known.get(id) ?? others.get(id)

/** The running step, if known. */
const running = () => stepBy(executionAsyncId()) ?? marks.get(executionAsyncResource())

/** Keeps `step`, which is in a chain with a hold or gives one, for later reactions to its promise. */
function learn(step, among = known) {
  for (const forgotten of among.add(step).values()) {
    forgotten.handed?.givers.delete(forgotten)
    if (forgotten.promise !== undefined) marks.set(forgotten.promise, forgotten)
    // Nothing will notice if its promise is resolved with a thenable.
    else forgotten.site = byHand
  }
}

const keep = (step) => learn(step, step.link === null ? others : known)

function forget({ id }) {
  known.delete(id)
  others.delete(id)
}

/** Stands for a promise whose step was dropped because it has settled. */
function settled(id) {
  const step = new Step(id, null)
  step.isSettled = true
  return step
}

class Itself {
  constructor(object) {
    // biome-ignore lint/correctness/noConstructorReturn: the fields of a derived class are those of `object`
    return object
  }
}

/** Marks a promise that is not a reaction with its id, in a private field that console.log() does not show. */
class Numbered extends Itself {
  #id

  constructor(promise, id) {
    super(promise)
    this.#id = id
  }

  /** Returns the step of `promise`, or undefined if it was made before steps were kept. */
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
