'use strict'
// Who goes on with a hold: the chains of calls of one thread, as async_hooks tells of them.
//
// Every promise has a Step. Some are reactions, which run when the promise before them has settled: what awaits it,
// or what then() makes of it. What awaits the promise of acquire() has its hold from then on, and so has all that it
// starts. It is never its siblings', which the same turn may have started.
//
// Whether all of a chain waits for locks is seen in quiescence.js, by what a promise may be made by: an async function
// makes its promise first, and awaits within, and so does whatever combines promises. So a promise is open from when
// it is made until the same run waits for it, and is taken to be made by the reactions which that run makes meanwhile,
// and those that go on after them. That is more than what makes it: all of them must wait before it is taken to, so
// that a mistake makes an alarm come later, or not at all. One that somebody settles by hand is made by none of them.
const { createHook, executionAsyncId, executionAsyncResource } = require('node:async_hooks')
const { isByHand } = require('./by_hand.js')
const { Latest } = require('./latest.js')
const {
  changed,
  isInside,
  known,
  Link,
  learn,
  liveOf,
  mostKnown,
  onTouched,
  touch,
} = require('./link.js')
const { Mark } = require('./mark.js')
const native = require('../load.js')

class Step {
  /** A reaction that has not run yet. */
  isPending = false
  isSettled = false
  /** By nobody that is known. */
  isByHand = false
  /** Of a reaction: the step of the promise that it waits for, where that is known. */
  parent = undefined
  /** Of a promise that is open: the number of the run that goes on, or else another one. */
  openIn = 0
  /** A promise that was open before it. */
  closed = undefined
  /** The promises that may be made by this reaction, and the step that has made it. */
  within = undefined
  maker = undefined
  /** Reactions that have yet to run, and that this promise is taken to depend on. */
  inside = undefined
  /** Of the promise of an acquire: the Wait, and then the link of those who go on with it. */
  wait = undefined
  handed = undefined
  /** It has been given a hold by the run that is going on. */
  isHanded = false

  constructor(id, link, resource) {
    this.id = id
    this.link = link
    this.resource = resource
  }

  /** It runs. */
  ran() {
    if (this.link !== null && waiting > 0) touch(this.link)
    this.link?.doings.delete(this)
    for (const promise of this.madeFor()) promise.inside?.delete(this)
    this.isPending = false
    this.parent = undefined
    this.closed = undefined
  }

  /** The promises that it is taken to be inside of. */
  *madeFor() {
    if (this.within !== undefined) yield* this.within
    if (this.maker !== undefined) yield this.maker
  }
}

/** Promises of other chains that have not settled: what is made of an acquire passes through them. */
const others = new Latest(mostKnown)
/** How many promises are taken to be made by one reaction: as the one before it, and of those that are open. */
const mostBefore = 12
const mostOpen = 4
/** And how many reactions may make one: they pile up where some never run, since what they wait for is gone. */
const mostInside = 1000
/** How many promises wait for locks. */
let waiting = 0
/** Promises made in the run that is going on, of which each may be made by those that come after it. */
let open = []
/** Its number. */
let run = 1
let isOurs = false

function init(id, type, trigger, resource) {
  if (isOurs) return
  const runner = Mark.stepOf(executionAsyncResource())
  const link = runner === undefined ? null : liveOf(runner.link)
  if (type !== 'PROMISE') {
    if (link === null) return
    const step = new Step(id, link, resource)
    Mark.put(resource, step)
    link.does(step)
    return
  }
  const step = new Step(id, link, undefined)
  Mark.put(resource, step)
  if (trigger === executionAsyncId()) {
    step.isByHand = isByHand(hooks.init)
    opens(step)
  } else {
    reacts(step, trigger, runner)
  }
  if (link !== null) learn(step)
  else others.add(step)
}

const stepBy = (id) => known.get(id) ?? others.get(id)

/** `step` is a reaction to the promise `trigger`, made by the run of `runner`. */
function reacts(step, trigger, runner) {
  step.isPending = true
  step.parent = stepBy(trigger)
  // Its making is at its end: what comes from here on is not for it.
  if (step.parent?.openIn === run) {
    step.closed = step.parent
    step.closed.openIn = 0
  }
  step.within = madeIn(runner)
  if (step.link === null) return
  step.maker = runner
  step.link.does(step)
  for (const promise of step.madeFor()) {
    if (promise.isByHand) continue
    promise.inside ??= new Set()
    promise.inside.add(step)
    if (promise.inside.size > mostInside) {
      promise.isByHand = true
      promise.inside = undefined
    }
  }
}

/** What may be made by a reaction that the run of `runner` makes now. */
function madeIn(runner) {
  const made = runner === undefined ? [] : (runner.within ?? [runner])
  const latest = latestOpen()
  if (latest.length === 0) return made
  return [...made.filter(isUnsettled).slice(-mostBefore), ...latest.filter(isUnsettled)]
}

/** Those that are closed stay where they are until they are the last: very many may be made in one run. */
function latestOpen() {
  while (open.length > 0 && open.at(-1).openIn !== run) open.pop()
  const latest = []
  for (let i = open.length - 1; i >= 0 && latest.length < mostOpen; i--) {
    const step = open[i]
    // One that was opened again is there twice.
    if (step.openIn === run && !latest.includes(step)) latest.unshift(step)
  }
  return latest
}

function opens(step) {
  step.openIn = run
  open.push(step)
}

function newRun() {
  run++
  open = []
}

const isUnsettled = ({ isSettled }) => !isSettled

function before() {
  newRun()
  const step = Mark.stepOf(executionAsyncResource())
  if (step === undefined) return
  const handed = step.parent?.handed
  step.ran()
  if (handed === undefined || handed.isOver || !isInside(handed, liveOf(step.link))) return
  step.link = handed
  step.isHanded = true
}

function after() {
  newRun()
  const step = Mark.stepOf(executionAsyncResource())
  if (step === undefined) return
  // Nothing of the past is kept by those who come after it.
  step.maker = undefined
  if (step.isHanded) handOn(step)
}

/** It has been given a hold, and nobody went on with it: then the one does who waits for what it is a part of. */
function handOn(step) {
  const { link } = step
  step.isHanded = false
  if (link.isOver || link.isCrowded || link.doings.size > 0 || link.inner.size > 0) return
  for (const promise of step.within) give(promise, link)
}

/** Whoever waits for `promise` has the hold of `link`, besides one that it has been given before. */
function give(promise, link) {
  const { handed } = promise
  if (handed !== undefined && !handed.isOver && handed !== link && handed.around === link.around) {
    link.moveInto(handed)
  }
  link.givenBy(promise)
}

/** A value that is no promise is awaited by one, which looks like a reaction to the function that awaits, and is none. */
function isWrapper(step) {
  if (step.closed !== undefined) opens(step.closed)
  step.ran()
}

/** Whoever waits for an async function, or for a reaction, goes on with what that holds at its end. */
function promiseResolve(id) {
  const settled = stepBy(id)
  if (settled !== undefined) settled.isSettled = true
  if (settled?.isPending) isWrapper(settled)
  // What awaits an acquire may begin to when it has been granted.
  if (settled?.handed === undefined) known.delete(id)
  others.delete(id)
  const runner = Mark.stepOf(executionAsyncResource())
  if (runner === undefined) return
  const link = liveOf(runner.link)
  if (link === null) return
  for (const promise of [runner, ...runner.madeFor()]) {
    // Unless it gives a hold of its own.
    if (promise.id === id && liveOf(promise.handed) === null) link.givenBy(promise)
  }
}

// async_hooks would keep functions of ours, and with them the vm context of this instance.
const hooks = native.realm.weakly(native, { init, before, after, promiseResolve })
const hook = createHook(hooks)
native.realm.endWith(native, hook, 'disable')

/**
 * From now on, and for good: a chain that has been lost cannot be found again. While promises wait for locks,
 * `touched()` is called whenever something runs in a chain with a hold.
 */
function follow(touched) {
  onTouched(touched)
  hook.enable()
}

/** What `make` makes is not part of any chain. */
function apart(make) {
  isOurs = true
  try {
    return make()
  } finally {
    isOurs = false
  }
}

/** The innermost link of the chain that is running, or null. */
function currentLink() {
  const runner = Mark.stepOf(executionAsyncResource())
  return runner === undefined ? null : liveOf(runner.link)
}

/** `wait` is for what `promise` gives: until it is over, the promise waits for a lock. Its chain is `link`. */
function waitsFor(promise, wait, link) {
  const step = Mark.stepOf(promise)
  if (step === undefined) return
  waiting++
  step.wait = wait
  learn(step)
  if (link !== null) touch(link)
}

/** The wait for `promise` is over. */
function waited(promise) {
  const step = Mark.stepOf(promise)
  if (step?.wait === undefined) return
  waiting--
  step.wait = undefined
  if (step.link === null && step.handed === undefined) known.delete(step.id)
}

/** Whoever goes on after `promise` goes on inside of `link`. */
function hands(promise, link) {
  const step = Mark.stepOf(promise)
  if (step !== undefined) link.givenBy(step)
}

/** `timer` does not make its chain go on. One of a clock that is not Node's is no resource, and may be a number. */
function disregard(timer) {
  if (typeof timer !== 'object' || timer === null) return
  const step = Mark.stepOf(timer)
  step?.link?.doings.delete(step)
}

module.exports = {
  apart,
  changed,
  currentLink,
  disregard,
  follow,
  hands,
  Link,
  waited,
  waitsFor,
}
