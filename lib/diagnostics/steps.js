'use strict'
// The step of each promise, by its async id: a WeakMap of all promises would cost more than everything else here. A
// long-lived promise must not refer to anything of this instance, which would keep its vm context.
const { executionAsyncId, executionAsyncResource } = require('node:async_hooks')
const { byHand } = require('./site.js')

/** The largest number of steps in chains with holds, and of doings of a hold: some promises never settle. */
const mostKnown = 10_000
/** Stands for an empty set of a link: acquiring and releasing a free lock makes no set. */
const nothing = new Set()
const noneForgotten = new Map()

/** `set` with `one` added: a new set if `set` was `none`. */
const withOne = (set, one) => (set === nothing ? new Set([one]) : set.add(one))

class Step {
  constructor(id, link) {
    this.id = id
    this.link = link
    /** Whether it is a timer, a request, a socket ... The step does not refer to it, which may end as garbage. */
    this.isResource = false
    /** Whether the resource calls back once. */
    this.isOnce = false
    /** The resource, if it is a timer of Node.js, which says itself when it is destroyed. */
    this.timer = undefined
    /** A reaction that has not run to its end. */
    this.promise = undefined
    /** A reaction that has not run yet. */
    this.isPending = false
    this.isSettled = false
    /** Where the promise was made, unless it is a reaction. */
    this.site = undefined
    /** The step of the promise that a reaction waits for, if known. */
    this.parent = undefined
    /** It equals the number of the current run while the promise is open. */
    this.openIn = 0
    /** The promise that was opened before this one. */
    this.closed = undefined
    /** The promises that this reaction may settle, and the step that made it. */
    this.within = undefined
    this.maker = undefined
    /** Pending reactions that may settle this promise. */
    this.inside = undefined
    /** Whether there were too many reactions to keep in `inside`. */
    this.isCrowded = false
    /** The claim that waits by the promise of an acquire, and then the link that its reactions run in. */
    this.wait = undefined
    this.handed = undefined
    /** Whether `handed` is an assumption, and whether `link` is. */
    this.isGuess = false
    this.isUnsure = false
    /** The current run has given it a hold. */
    this.isHanded = false
  }
}

/**
 * Steps by their ids, at most `most`: the latest ones. The older half is dropped at once, because finding the oldest entry
 * of a Map takes longer with every entry that has been deleted before it.
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

  /** Returns a Map of the steps that are dropped for it. */
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
/** Steps of other chains, which promises derived from an acquire pass through. */
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
    // It may be resolved with a thenable, unnoticed.
    else forgotten.site = byHand
  }
}

const keep = (step) => learn(step, step.link === null ? others : known)

function forget({ id }) {
  known.delete(id)
  others.delete(id)
}

/** A promise that was dropped because it has settled. */
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

  /** Undefined when the promise was made before steps were kept. */
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
