'use strict'
// What tests take from Node.js, in a browser. The package itself finds none of it in its scope.

/** A turn of the event loop. A timer would wait for 4 ms, and faked clocks would replace it. */
const { port1, port2 } = new MessageChannel()
const turns = []
port1.onmessage = () => turns.shift()()
globalThis.setImmediate = (callback, ...args) => {
  turns.push(() => callback(...args))
  port2.postMessage(undefined)
}
globalThis.process = {
  ...{ env: {}, platform: 'browser' },
  ...{ listeners: () => [], on() {}, removeAllListeners() {} },
}

const listeners = new WeakMap()

/** As events.getEventListeners() does, for the event of a signal. */
const getEventListeners = (signal) => [...(listeners.get(signal) ?? [])]

const { addEventListener, removeEventListener } = EventTarget.prototype
AbortSignal.prototype.addEventListener = function (type, listener, options) {
  if (!listeners.has(this)) listeners.set(this, new Set())
  const all = listeners.get(this).add(listener)
  addEventListener.call(this, type, () => options?.once && all.delete(listener))
  addEventListener.call(this, type, listener, options)
}
AbortSignal.prototype.removeEventListener = function (type, listener, options) {
  listeners.get(this)?.delete(listener)
  removeEventListener.call(this, type, listener, options)
}

module.exports = { getEventListeners }
