'use strict'
// Errors of methods called with a `this` that is not of their class.
//
// A kind describes the class of a lock ({ class, base, ... }); `base` is the kind whose methods it
// inherits.
const platform = require('./platform.js')

/** Whether `own` is the kind `wanted`, or inherits its methods. */
function isOfKind(own, wanted) {
  for (let kind = own; kind !== undefined; kind = kind.base) if (kind === wanted) return true
  return false
}

/** `own` is the kind of `receiver`, if it is an object of this library. */
function receiverError({ class: name, instance = a(name) }, method, receiver, own) {
  const found = own === undefined ? platform.describe(receiver) : a(own.class)
  return new TypeError(
    `${name}.prototype.${method} called on ${found}: call it as a method of ${instance}; ` +
      'to pass it on, wrap it in an arrow function',
  )
}

const a = (name) => `${/^([AEIO]|RW)/.test(name) ? 'an' : 'a'} ${name}`

// Properties by which code knows a lock without its class, which another copy of the package has as well.
/** Every keyed lock has this property. */
const keyedMark = Symbol.for('boxoffice.keyed')
/** Its value is the scope of a lock whose acquire() and waitForUnlock() take a signal. */
const signalMark = Symbol.for('boxoffice.takesSignal')

module.exports = { isOfKind, keyedMark, receiverError, signalMark }
