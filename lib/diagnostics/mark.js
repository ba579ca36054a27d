'use strict'
// The step of a promise or another resource, where nobody else can see it: not even console.log(). A promise that
// lives long does not keep its step when this instance is gone, which would keep its vm context.

const steps = new WeakMap()

const Mark = {
  put(resource, step) {
    steps.set(resource, step)
  },

  stepOf(resource) {
    return steps.get(resource)
  },
}

module.exports = { Mark }
