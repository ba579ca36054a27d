// The locks under test that threads share. A form is one way of using a kit:
//   { create, open, enter, leave }  `create()` makes what each thread is sent, and opens its lock by;
//                                   `enter` gives a promise, or blocks where the form isBlocking
//   { create, open, run }           `await run(lock, callback)`
// A kit that isLeaky is known to admit two holders, which is counted; for any other kit it is an
// error.
const { ArticleMutex } = require('./article-mutex.js')
const { loadOurs } = require('./kits.js')

const threadKits = {
  ours: ourForms,

  article: () => {
    const create = () => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const open = (buffer) => new ArticleMutex(buffer)
    const leave = (mutex) => mutex.unlock()
    return {
      awaiting: { create, open, enter: (mutex) => mutex.lockAsync(), leave },
      blocking: { create, open, enter: (mutex) => mutex.lock(), leave, isBlocking: true },
    }
  },

  'ours, Node 24': ourForms,

  'LockManager, Node 24': () => byName(loadOurs().locks),

  'navigator.locks, Node 24': () => byName(navigator.locks, { isLeaky: true }),
}

function byName(locks, traits = {}) {
  const create = () => 'boxoffice-bench'
  const open = (name) => name
  const run = (name, callback) => locks.request(name, callback)
  return { awaiting: { create, open, run, ...traits } }
}

function ourForms() {
  const { Mutex } = loadOurs()
  const create = () => new Mutex({ shared: true }).buffer
  const open = (buffer) => new Mutex({ buffer })
  const leave = (mutex) => mutex.unlock()
  return {
    awaiting: { create, open, enter: (mutex) => mutex.lock(), leave },
    blocking: { create, open, enter: (mutex) => mutex.lockSync(), leave, isBlocking: true },
  }
}

module.exports = { threadKits }
