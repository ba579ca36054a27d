'use strict'
// The order in which callers take locks with `diagnostics: { order: true }`: which lock a caller asks for while it
// holds another one. C++ keeps these pairs for all threads (src/waiting/lock_order.h), and finds the pair that closes a
// circle.
//
// Locks of one name are one class, and so are all locks without a name that one line of the program has made. Taking
// two locks of one class makes no pair. A circle between classes may be reported although no caller takes the same two
// locks in both orders.
const { threadId } = require('node:worker_threads')
const { warn } = require('../core/warn.js')
const native = require('../addon/load.js')
const { apart } = require('./chains.js')
const { framesOf } = require('./deadlock_error.js')
const { idOf, placeOf, titleOf } = require('./title.js')

/** The pairs that this thread has reported to C++: the inner classes, by the outer class. */
const known = new Map()
/** C++ has the same limit, because programs may make any number of names. */
const mostKnown = 4096
let size = 0

/** Returns the class of the lock of `observer`, as text, which is kept, because a caller may have very many holds. */
function classOf(observer) {
  const { whole } = observer
  whole.orderClass ??= makeClass(observer)
  return whole.orderClass
}

function makeClass(observer) {
  const place = observer.name === undefined ? placeOf(observer) : undefined
  // Leave out the function of the frame: for one line it differs between classes that inherit the constructor.
  const made = place && `${observer.kind} ${/\((.*)\)$/.exec(place)?.[1] ?? place}`
  return JSON.stringify(made ?? idOf(observer))
}

/** Records that a caller asks for the lock of `claim`, a wait or a new hold, while it has the holds `outer`. */
function takes(claim, outer) {
  const inner = classOf(claim.observer)
  for (const hold of outer) {
    if (hold.observer.isOrdered) learn(classOf(hold.observer), inner, hold, claim)
  }
}

function learn(from, to, hold, claim) {
  if (from === to || size === mostKnown) return
  const inner = known.get(from)
  if (inner?.has(to)) return
  if (inner === undefined) known.set(from, new Set([to]))
  else inner.add(to)
  size++
  const label = JSON.stringify({ thread: threadId, outer: sightOf(hold), inner: sightOf(claim) })
  const circle = [label, ...native.lockOrder.add(from, to, label)]
  if (circle.length > 1) tell(circle, `${from} ${to}`)
}

const sightOf = ({ observer, stack }) => ({ title: titleOf(observer), stack })

/** Warns of a circle of pairs: each has been taken inside the one before it. */
function tell(labels, site) {
  const pairs = labels.map((label) => JSON.parse(label))
  const titles = pairs.map(({ outer }) => outer.title)
  const order = pairs.length === 2 ? 'in both orders' : 'in a circle'
  const message = `${listOf(titles)} are acquired inside each other, ${order}: callers that do so at once can deadlock. Acquire them in one order everywhere`
  const warning = { detail: pairs.map(draw).join('\n'), site }
  // The timer of the warning does not belong to the caller's chain.
  apart(() => warn('BOXOFFICE_LOCK_ORDER', message, warning))
}

const listOf = (titles) => `${titles.slice(0, -1).join(', ')} and ${titles.at(-1)}`

function draw({ thread, outer, inner }) {
  const who = thread === 0 ? 'The main thread' : `Thread ${thread}`
  return (
    `${who} acquired ${outer.title}\n${framesOf(outer)}\n` +
    `  and inside it ${inner.title}\n${framesOf(inner)}`
  )
}

module.exports = { takes }
