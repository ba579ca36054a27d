'use strict'
// The chains of calls of one thread, from async_hooks: which code runs under which hold.
//
// Every promise has a Step. A reaction is a step that runs when the promise before it has settled: an await of that
// promise, or a callback of then(). The code that awaits the promise of acquire() runs under its hold from then on, with
// everything that it starts. Its siblings, which the same turn may have started, do not.
//
// quiescence.js decides whether a whole chain waits for locks, by the reactions that may settle each promise. An async
// function makes its promise first and awaits inside, and so do functions that combine promises. So a promise is open
// from when it is made until the same run waits for it. It is assumed to be settled by the reactions which that run makes
// meanwhile, and by their successors. The real reactions are among them, and all of them must wait before the promise
// counts as waiting: a mistake delays an alarm or prevents it, and never raises one. A promise that code settles by hand
// (new Promise()) is settled by no reaction. The order of locks (lock_order.js) needs no more than what is sure: a step that
// has its link by such an assumption is unsure.
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

/** The largest number of promises of its predecessor that one reaction may settle, besides open ones. */
const mostBefore = 20
/** The largest number of reactions that may settle one promise: reactions that never run pile up. */
const mostInside = 1000
/** The number of promises that wait for locks. */
let waiting = 0
/**
 * The promise that was resolved with a thenable, which the current run calls; undefined after the first reaction. The
 * thenable settles it by hand, unless it is a promise: then the run only makes a reaction to that one.
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
      // Frames cost more than a lock: a promise made while no lock was held is assumed to be settled by hand.
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
 * The promise is of a subclass. The program may settle it by hand, and async_hooks does not say of its then() which
 * promise it reacts to. So it is a doing of which nothing is known, until it runs or is settled.
 */
function settlesSomehow(step) {
  step.isPending = true
  step.link?.does(step)
}

/** The step runs. */
function runs(step) {
  if (step.link !== null && waiting > 0) touch(step.link)
  if (step.isResource) resources.calls(step)
  else step.link?.did(step)
  for (const promise of madeFor(step)) promise.inside?.delete(step)
  step.isPending = false
  step.parent = undefined
  step.closed = undefined
}

/** The promises that `step` may settle. */
function madeFor({ within, maker }) {
  if (maker === undefined) return within ?? []
  return within === undefined ? [maker] : [...within, maker]
}

/** `step` is a reaction to the promise `trigger`, made by the run of `runner`. */
function reacts(step, trigger, runner) {
  step.isPending = true
  step.parent = stepBy(trigger)
  // The run waits for it, so it is open no more: later reactions do not settle it.
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

/** The promises that a reaction may settle which the run of `runner` makes now. */
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
    step.site ??= byHand // It has returned a thenable, which is called next.
  else if (!gives(step)) forget(step)
}

/** The step got a hold, and no reaction continued it: the step that awaits its promise does. */
function handOn(step) {
  const { link } = step
  step.isHanded = false
  if (link.isOver || link.isCrowded || link.doings.size > 0 || link.inner.size > 0) return
  for (const promise of step.within ?? []) give(promise, link)
}

/** Reactions to `promise` run under the hold of `link`, besides a hold that the promise gave before. */
function give(promise, link) {
  const { handed } = promise
  if (handed !== undefined && !handed.isOver && handed !== link && handed.around === link.around) {
    link.moveInto(handed)
  }
  link.givenBy(promise, true)
}

const gives = ({ handed }) => handed !== undefined && !handed.isOver

/** await wraps a plain value in a promise, which looks like a reaction to the awaiting function, and is none. */
function isWrapper(step) {
  if (step.closed !== undefined) opens(step.closed)
  runs(step)
}

/** The step that awaits an async function, or a reaction, continues the hold that it has at its end. */
function promiseResolve(id) {
  const settled = stepBy(id)
  const runner = running()
  if (settled !== undefined) {
    settled.isSettled = true
    settled.site = undefined
    if (settled.isPending) isWrapper(settled)
    // The caller may begin to await the acquire after the grant.
    if (settled !== runner && !gives(settled)) forget(settled)
  }
  if (runner === undefined) return
  const link = liveOf(runner.link)
  if (link === null) return
  for (const promise of [runner, ...madeFor(runner)]) {
    // Unless the step gives a hold of its own. Where its async function ends, nothing else continues the hold.
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
 * Starts to follow chains, for good: a chain that has been lost cannot be found again. While promises wait for locks,
 * `touched()` is called whenever something runs in a chain with a hold.
 */
function follow(touched) {
  onTouched(touched)
  hook.enable()
}

/** Resources that `make` makes belong to no chain. */
function apart(make) {
  isOurs = true
  try {
    return make()
  } finally {
    isOurs = false
  }
}

/** The innermost link of the running chain, or null. */
function currentLink() {
  const runner = running()
  return runner === undefined ? null : liveOf(runner.link)
}

/** The innermost link that the running code has for sure, or null. */
function sureLink() {
  const runner = running()
  return runner === undefined || runner.isUnsure ? null : sureOf(runner.link)
}

/** Until `wait` is over, its promise waits for a lock. Its chain is `link`. */
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

/** Reactions to `promise`, or to the promise of `wait`, run inside `link`. */
function hands(link, promise, wait) {
  const step = wait?.step ?? Numbered.stepOf(promise)
  if (step !== undefined) link.givenBy(step)
}

/** The running code, which is of a lock over an engine, has the hold of `link`, and so has what it returns to. */
function enters(link) {
  const step = running()
  if (step === undefined) return
  const isDoing = step.link?.doings.has(step)
  if (isDoing) step.link.did(step)
  step.link = link
  if (isDoing) link.does(step)
  step.isUnsure = false
  // The hold that the step was given before is the one around this link.
  step.isHanded = false
}

/** `timer` does not continue its chain. A timer of a fake clock is not a resource, and may be a number. */
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
