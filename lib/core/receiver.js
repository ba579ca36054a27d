'use strict'
// Errors for methods called with a `this` of another class.
//
// A kind describes the class of a lock: { class, base, ... }. It inherits the methods of the kind `base`.
const platform = require('./platform.js')

/** Whether `own` is the kind `wanted`, or inherits its methods. */
function isOfKind(own, wanted) {
  for (let kind = own; kind !== undefined; kind = kind.base) if (kind === wanted) return true
  return false
}

/** Returns the error. `own` is the kind of `receiver`, if that is an object of this library. */
function receiverError({ class: name, instance = a(name) }, method, receiver, own) {
  const found = own === undefined ? platform.describe(receiver) : a(own.class)
  return new TypeError(
    `${name}.prototype.${method} called on ${found}: call it as a method of ${instance}; ` +
      'to pass it on, wrap it in an arrow function',
  )
}

const a = (name) => `${/^([AEIO]|RW)/.test(name) ? 'an' : 'a'} ${name}`

// Marks by which code recognizes locks, also those of another copy of the package.
/** Every keyed lock has this property. */
const keyedMark = Symbol.for('boxoffice.keyed')
/** The scope of a lock whose acquire() and waitForUnlock() take a signal. Other locks lack this property. */
const signalMark = Symbol.for('boxoffice.takesSignal')

module.exports = { isOfKind, keyedMark, receiverError, signalMark }
