'use strict'
// The chains of calls of one thread, from async_hooks: which code runs under which hold.
//
// Every promise has a Step. A reaction is a step that runs when the promise before it has settled: an await of that
// promise, or a callback of then(). Code that awaits the promise of acquire() runs under its hold from then on, with
// everything that it starts. Its siblings do not.
//
// quiescence.js decides whether a whole chain waits for locks. For that it needs the reactions that may settle each
// promise, which async_hooks does not report. An async function makes its promise first and then awaits; functions that
// combine promises do the same. So a promise is open from when it is made until the same run waits for it, and counts
// as settled by the reactions that the run makes meanwhile, and by their successors. The real ones are among them. All
// of them must wait before the promise counts as waiting, so a wrong one can delay or prevent an alarm, but never raise
// one. A promise that code settles by hand (new Promise()) has no such reaction. The order of locks (lock_order.js)
// uses only facts: a step that has its link by this assumption is unsure.
const { createHook, executionAsyncId } = require('node:async_hooks')
const {
  changed,
  isAnyHeld,
  isInside,
  Link,
  liveOf,
  onTouched,
  sureOf,
  touch,
} = require('./link.js')
const { closes, newRun, openPromises, opens } = require('./open_promises.js')
const resources = require('./resources.js')
const { Adoption, byHand, Ending, isDerived, Site } = require('./site.js')
const { forget, keep, known, learn, marks, Numbered, running, Step, stepBy } = require('./steps.js')
const native = require('../addon/load.js')

/** A reaction may settle the open promises, and this many of the latest promises that its maker may settle. */
const mostBefore = 20
/** How many reactions that may settle one promise are kept. Reactions that never run pile up. */
const mostInside = 1000
/** The number of promises that wait for locks. */
let waiting = 0
/**
 * A promise that was resolved with a thenable, whose then() the current run calls. Undefined after the first reaction.
 * A thenable settles the promise by hand, but a thenable that is a promise only gets a reaction.
 */
let adopting
let isOurs = false

function init(id, type, trigger, resource) {
  if (isOurs) return
  const runner = running()
  const link = runner === undefined ? null : liveOf(runner.link)
  if (type !== 'PROMISE') {
    if (link === null) return
    resources.stepOf(id, type, link, resource).isUnsure = runner.isUnsure
    return
  }
  const step = new Step(id, link)
  step.isUnsure = runner?.isUnsure === true
  if (trigger === executionAsyncId()) {
    new Numbered(resource, id)
    if (isDerived(resource)) settlesSomehow(step)
    else {
      // Frames cost more than a lock. So a promise made while no lock is held counts as settled by hand.
      step.site = isAnyHeld() ? new Site(hooks.init) : byHand
      opens(step)
    }
  } else {
    step.promise = resource
    reacts(step, trigger, runner)
  }
  keep(step)
}

/**
 * Handles a promise of a subclass. The program may settle it by hand, and async_hooks does not tell to which promise a
 * reaction made by its then() belongs. So it counts as a doing about which nothing is known, until it runs or settles.
 */
function settlesSomehow(step) {
  step.isPending = true
  step.link?.does(step)
}

/** Called when `step` runs. */
function runs(step) {
  if (step.link !== null && waiting > 0) touch(step.link)
  if (!step.isResource || step.isOnce) step.link?.did(step)
  for (const promise of madeFor(step)) promise.inside?.delete(step)
  step.isPending = false
  step.parent = undefined
  step.closed = undefined
}

function madeFor({ within, maker }) {
  if (maker === undefined) return within ?? []
  return within === undefined ? [maker] : [...within, maker]
}

/** Handles `step`, a reaction to the promise `trigger` that the run of `runner` makes. */
function reacts(step, trigger, runner) {
  step.isPending = true
  step.parent = stepBy(trigger)
  // The run waits for that promise, so it is no longer open: later reactions do not settle it.
  if (closes(step.parent)) step.closed = step.parent
  step.within = madeIn(runner)
  if (step.link === null) return
  if (runner === adopting) runner.site = new Adoption(hooks.init)
  adopting = undefined
  step.maker = runner
  step.link.does(step)
  for (const promise of madeFor(step)) {
    if (promise.isCrowded) continue
    promise.inside ??= new Set()
    promise.inside.add(step)
    if (promise.inside.size <= mostInside) continue
    promise.isCrowded = true
    promise.inside = undefined
  }
}

/** Returns the promises that a reaction may settle if the run of `runner` makes it now. */
function madeIn(runner) {
  const made = runner === undefined ? [] : (runner.within ?? [runner])
  const open = openPromises()
  if (open.length === 0) return made
  return [...made.filter(isUnsettled).slice(-mostBefore), ...open]
}

const isUnsettled = ({ isSettled }) => !isSettled

function before() {
  newRun()
  adopting = undefined
  const step = running()
  if (step === undefined) return
  const { handed, isGuess } = step.parent ?? step
  const isReaction = step.isPending
  runs(step)
  if (!isReaction && !step.isResource) {
    step.site = byHand
    adopting = step
  }
  if (handed === undefined || handed.isOver || !isInside(handed, liveOf(step.link))) return
  step.link = handed
  step.isHanded = true
  step.isUnsure = isGuess
}

function after() {
  newRun()
  const step = running()
  if (step === undefined) return
  // Later steps must not keep earlier ones in memory.
  step.maker = undefined
  step.promise = undefined
  if (step.isHanded) handOn(step)
  if (step.isResource) resources.called(step)
  else if (!step.isSettled)
    step.site ??= byHand // The step has returned a thenable, which is called next.
  else if (!gives(step)) forget(step)
}

/** Passes a hold on from `step`, which got it and ends without a reaction: to the steps that await its promise. */
function handOn(step) {
  const { link } = step
  step.isHanded = false
  if (link.isOver || link.isCrowded || link.doings.size > 0 || link.inner.size > 0) return
  for (const promise of step.within ?? []) give(promise, link)
}

/** Makes reactions to `promise` run under the hold of `link`, in addition to a hold that the promise gave before. */
function give(promise, link) {
  const { handed } = promise
  if (handed !== undefined && !handed.isOver && handed !== link && handed.around === link.around) {
    link.moveInto(handed)
  }
  link.givenBy(promise, true)
}

const gives = ({ handed }) => handed !== undefined && !handed.isOver

/** Corrects `step`: await has wrapped a plain value in a promise, which only looks like a reaction. */
function isWrapper(step) {
  if (step.closed !== undefined) opens(step.closed)
  runs(step)
}

/** Called when a promise is resolved. The steps that await it continue the hold of its async function or reaction. */
function promiseResolve(id) {
  const settled = stepBy(id)
  const runner = running()
  if (settled !== undefined) {
    settled.isSettled = true
    settled.site = undefined
    if (settled.isPending) isWrapper(settled)
    // Keep promises that give a hold, because a caller may begin to await an acquire after the grant.
    if (settled !== runner && !gives(settled)) forget(settled)
  }
  if (runner === undefined) return
  const link = liveOf(runner.link)
  if (link === null) return
  for (const promise of [runner, ...madeFor(runner)]) {
    // A promise may give a hold of its own. If the async function ends here, handOn() need not pass the hold on.
    if (promise.id !== id || liveOf(promise.handed) !== null) continue
    link.givenBy(promise, runner.isUnsure)
    if (promise !== runner) runner.isHanded &&= new Ending(hooks.promiseResolve).isByHand()
  }
}

// async_hooks would keep this module's functions alive, and with them the vm context of this instance.
const hooks = native.realm.weakly(native, { init, before, after, promiseResolve })
const hook = createHook(hooks)
native.realm.endWith(native, hook, 'disable')

/**
 * Starts to follow chains, for good, because a lost chain cannot be found again. While promises wait for locks, calls
 * `touched()` whenever something runs in a chain with a hold.
 */
function follow(touched) {
  onTouched(touched)
  hook.enable()
}

/** Returns make(). Resources that it makes belong to no chain. */
function apart(make) {
  isOurs = true
  try {
    return make()
  } finally {
    isOurs = false
  }
}

/** Returns the innermost link of the running chain, or null. */
function currentLink() {
  const runner = running()
  return runner === undefined ? null : liveOf(runner.link)
}

/** Returns the innermost link that the running code has for sure, or null. */
function sureLink() {
  const runner = running()
  return runner === undefined || runner.isUnsure ? null : sureOf(runner.link)
}

/** Marks the promise of `wait`, in the chain of `link`, as waiting for a lock until waited(). */
function waitsFor(wait, link) {
  const step = Numbered.stepOf(wait.promise)
  if (step === undefined) return
  waiting++
  step.wait = wait
  wait.step = step
  learn(step)
  if (link !== null) touch(link)
}

function waited({ step }) {
  if (step?.wait === undefined) return
  waiting--
  step.wait = undefined
  if (step.link === null && step.handed === undefined) known.delete(step.id)
}

/** Makes reactions to `promise`, or to the promise of `wait`, run inside `link`. */
function hands(link, promise, wait) {
  const step = wait?.step ?? Numbered.stepOf(promise)
  if (step !== undefined) link.givenBy(step)
}

/** Gives the hold of `link` to the running code of a lock over an engine, and so to its caller. */
function enters(link) {
  const step = running()
  if (step === undefined) return
  const isDoing = step.link?.doings.has(step)
  if (isDoing) step.link.did(step)
  step.link = link
  if (isDoing) link.does(step)
  step.isUnsure = false
  // A hold that the step was given before is around this link.
  step.isHanded = false
}

/** Excludes `timer` from the chain that made it. A timer of a fake clock is not a resource, and may be a number. */
function disregard(timer) {
  const step = marks.get(timer)
  step?.link?.did(step)
}

module.exports = {
  apart,
  changed,
  currentLink,
  disregard,
  enters,
  follow,
  hands,
  Link,
  sureLink,
  sureOf,
  waited,
  waitsFor,
}
