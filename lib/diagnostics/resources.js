'use strict'
// The resources in the chains of holds: timers, requests, sockets ... . A resource may call back, and release the hold,
// until Node.js has destroyed it.
const { createHook } = require('node:async_hooks')
const { destroyed, isLasting } = require('./link.js')
const { marks, Step } = require('./steps.js')
const native = require('../addon/load.js')

/** The few kinds of resources that are known to call back only once. They are over when their callback begins. */
const once = new Set([
  'FSREQCALLBACK',
  'FSREQPROMISE',
  'GETADDRINFOREQWRAP',
  'GETNAMEINFOREQWRAP',
  'Microtask',
  'PIPECONNECTWRAP',
  'QUERYWRAP',
  'SHUTDOWNWRAP',
  'TCPCONNECTWRAP',
  'TickObject',
  'UDPSENDWRAP',
  'WRITEWRAP',
])
const timers = new Set(['Immediate', 'Timeout'])

// Weak, as in chains.js.
const hooks = native.realm.weakly(native, { destroy: destroyed })
const hook = createHook(hooks)
native.realm.endWith(native, hook, 'disable')
let isFollowing = false

/** Makes the step of `resource`, which the chain of `link` has made. */
function stepOf(id, type, link, resource) {
  const step = new Step(id, link)
  step.isResource = true
  step.isOnce = once.has(type)
  // An AsyncResource of the program may have the name of a timer.
  if (timers.has(type) && typeof resource._destroyed === 'boolean') step.timer = resource
  marks.set(resource, step)
  link.does(step)
  if (isLasting(step)) follow()
  return step
}

/**
 * Enables the hook with the first resource that needs it, because it makes each promise of the thread more expensive.
 */
function follow() {
  if (isFollowing) return
  isFollowing = true
  hook.enable()
}

/**
 * Called when the resource of `step` has called back. A timer is over by now, unless it is an interval or was
 * refreshed.
 */
function called(step) {
  if (step.timer !== undefined && !isAlive(step)) step.link?.did(step)
}

/** Whether the resource of `step` may still call back. Only this property tells that a timer was cleared. */
const isAlive = ({ timer }) => timer?._destroyed !== true

module.exports = { called, isAlive, stepOf }
