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
const { createHook, executionAsyncId } = require('node:async_hooks')
const { changed, isAnyHeld, isInside, Link, liveOf, onTouched, touch } = require('./link.js')
const { byHand, Site } = require('./site.js')
const { forget, keep, known, learn, marks, Numbered, running, Step, stepBy } = require('./steps.js')
const native = require('../load.js')

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
  const runner = running()
  const link = runner === undefined ? null : liveOf(runner.link)
  if (type !== 'PROMISE') {
    if (link === null) return
    const step = new Step(id, link, resource)
    marks.set(resource, step)
    link.does(step)
    return
  }
  const step = new Step(id, link, undefined)
  if (trigger === executionAsyncId()) {
    new Numbered(resource, id)
    // Frames take longer than a lock: a call that began when no lock was held is taken to be settled by hand.
    step.site = isAnyHeld() ? new Site(hooks.init) : byHand
    opens(step)
  } else {
    step.promise = resource
    reacts(step, trigger, runner)
  }
  keep(step)
}

/** It runs. */
function runs(step) {
  if (step.link !== null && waiting > 0) touch(step.link)
  step.link?.doings.delete(step)
  for (const promise of madeFor(step)) promise.inside?.delete(step)
  step.isPending = false
  step.parent = undefined
  step.closed = undefined
}

/** The promises that `step` is taken to be inside of. */
function madeFor({ within, maker }) {
  if (maker === undefined) return within ?? []
  return within === undefined ? [maker] : [...within, maker]
}

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
  for (const promise of madeFor(step)) {
    if (promise.isCrowded) continue
    promise.inside ??= new Set()
    promise.inside.add(step)
    if (promise.inside.size <= mostInside) continue
    promise.isCrowded = true
    promise.inside = undefined
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
  const step = running()
  if (step === undefined) return
  const handed = step.parent?.handed
  runs(step)
  if (handed === undefined || handed.isOver || !isInside(handed, liveOf(step.link))) return
  step.link = handed
  step.isHanded = true
}

function after() {
  newRun()
  const step = running()
  if (step === undefined) return
  // Nothing of the past is kept by those who come after it.
  step.maker = undefined
  step.promise = undefined
  if (step.isHanded) handOn(step)
  if (step.resource === undefined && !gives(step)) forget(step)
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

const gives = ({ handed }) => handed !== undefined && !handed.isOver

/** A value that is no promise is awaited by one, which looks like a reaction to the function that awaits, and is none. */
function isWrapper(step) {
  if (step.closed !== undefined) opens(step.closed)
  runs(step)
}

/** Whoever waits for an async function, or for a reaction, goes on with what that holds at its end. */
function promiseResolve(id) {
  const settled = stepBy(id)
  const runner = running()
  if (settled !== undefined) {
    settled.isSettled = true
    settled.site = undefined
    if (settled.isPending) isWrapper(settled)
    // What awaits an acquire may begin to when it has been granted.
    if (settled !== runner && !gives(settled)) forget(settled)
  }
  if (runner === undefined) return
  const link = liveOf(runner.link)
  if (link === null) return
  for (const promise of [runner, ...madeFor(runner)]) {
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
  const runner = running()
  return runner === undefined ? null : liveOf(runner.link)
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

/** Reactions to `promise`, or to that of `wait`, run inside of `link`. */
function hands(link, promise, wait) {
  const step = wait?.step ?? Numbered.stepOf(promise)
  if (step !== undefined) link.givenBy(step)
}

/** `timer` does not make its chain go on. One of a clock that is not Node's is no resource, and may be a number. */
function disregard(timer) {
  const step = marks.get(timer)
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
