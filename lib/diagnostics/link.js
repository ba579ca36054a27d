'use strict'
// Holds and the chains of calls that run under them: see chains.js.
//
//   Link   a hold, inside the hold that its chain had before
//   doing  a step of the chain that may still run: a reaction, or a timer, a request, a socket ...
const { keep, known, learn, mostKnown, nothing, withOne } = require('./steps.js')

/** Doings that are resources, by their ids, until Node.js has destroyed the resource. */
const lasting = new Map()
/** Links in which something has run since the last call of changed(), while a caller waited. */
const dirty = new Set()
let onTouch = () => {}
/** The number of links that are not over. */
let live = 0

const isAnyHeld = () => live > 0

class Link {
  isOver = false
  /** Links that began inside this one, and are not over. */
  inner = nothing
  doings = nothing
  /** Whether there were too many doings to keep. Some never run, because nothing can settle their promise any more. */
  isCrowded = false
  /** The known steps of promises that give this link. */
  givers = new Set()
  /** Links that were not quiescent because of this one: check them again when something has run here. */
  onlookers = nothing

  /**
   * The link of `hold`, which began inside the link `around`, and for sure inside the link `sure`. Each may be null, or
   * over by now.
   */
  constructor(hold, around, sure) {
    live++
    this.hold = hold
    this.around = liveOf(around)
    this.around?.holdsInside(this)
    this.sure = sureOf(sure)
  }

  holdsInside(link) {
    this.inner = withOne(this.inner, link)
  }

  /** Makes reactions to the promise of `step` run inside this link, from now until its end. */
  givenBy(step, isGuess = false) {
    if (isGuess && step.handed === this) return
    step.handed?.givers.delete(step)
    step.handed = this
    step.isGuess = isGuess
    this.givers.add(step)
    learn(step)
  }

  does(step) {
    if (this.isCrowded) {
      lasting.delete(step.id)
      return
    }
    this.doings = withOne(this.doings, step)
    if (isLasting(step)) lasting.set(step.id, step)
    if (this.doings.size <= mostKnown) return
    for (const { id } of this.doings) lasting.delete(id)
    this.isCrowded = true
    this.doings = nothing
  }

  /** Removes `step` from the doings: it has run for the last time. */
  did(step) {
    if (this.doings.delete(step)) lasting.delete(step.id)
  }

  isWatchedBy(link) {
    this.onlookers = withOne(this.onlookers, link)
  }

  /** Moves this link into `link`, which began beside it: code that has this link also has `link`. */
  moveInto(link) {
    this.around?.inner.delete(this)
    this.around = link
    link.holdsInside(this)
  }

  /** Ends the link when its hold has been released. Its chain goes on in the link around it. */
  end() {
    this.isOver = true
    live--
    for (const step of this.givers) if (step.isSettled) known.delete(step.id)
    this.givers.clear()
    for (const link of this.onlookers) touch(link)
    const around = liveOf(this.around)
    const sure = sureOf(this.sure)
    if (dirty.delete(this) && around !== null) dirty.add(around)
    around?.inner.delete(this)
    for (const link of this.inner) {
      // Skip this link. Otherwise, in hand-over-hand locking, each link would keep all earlier links in memory.
      link.around = around
      if (link.sure === this) link.sure = sure
      around?.holdsInside(link)
    }
    for (const step of this.doings) {
      step.link = around
      if (around !== sure) step.isUnsure = true
      if (around !== null) around.does(step)
      else if (step.isResource) lasting.delete(step.id)
      else {
        known.delete(step.id)
        keep(step)
      }
    }
    if (this.isCrowded && around !== null) around.isCrowded = true
    // Steps that never run may keep this link in memory for ever. They must not keep other links through it.
    this.hold = undefined
    this.sure = null
    this.inner = nothing
    this.doings = nothing
  }
}

const isLasting = ({ isResource, isOnce, timer }) => isResource && !isOnce && timer === undefined

/** Called when Node.js has destroyed the resource `id`, which never calls back again. */
function destroyed(id) {
  const step = lasting.get(id)
  if (step === undefined) return
  step.link.did(step)
  touch(step.link)
}

/** Whether `link` began inside `outer`. True if `outer` is null. */
function isInside(link, outer) {
  if (outer === null) return true
  let around = link
  while (around !== null && around !== outer) around = around.around
  return around === outer
}

/** Returns `link`, or the next link around it that is not over, or null. */
function liveOf(link) {
  let live = link ?? null
  while (live?.isOver) live = live.around
  return live
}

/** As liveOf(), among the links in which `link` began for sure. */
function sureOf(link) {
  let live = link ?? null
  while (live?.isOver) live = live.sure
  return live
}

function touch(link) {
  dirty.add(link)
  onTouch()
}

/** Sets the function to call whenever something runs in a link. */
function onTouched(touched) {
  onTouch = touched
}

/** Returns the links in which something has run since the last call, with all links around them and all onlookers. */
function changed() {
  const links = new Set()
  for (const each of dirty) {
    // The iteration includes elements that are added on the way.
    for (const link of each.onlookers) dirty.add(link)
    each.onlookers = nothing
    for (let link = liveOf(each); link !== null && !links.has(link); link = liveOf(link.around)) {
      links.add(link)
    }
  }
  dirty.clear()
  return links
}

module.exports = {
  changed,
  destroyed,
  isAnyHeld,
  isInside,
  isLasting,
  Link,
  liveOf,
  onTouched,
  sureOf,
  touch,
}
