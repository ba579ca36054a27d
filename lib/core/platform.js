'use strict'
// What locks of one thread need from the runtime. These defaults suit any JavaScript runtime. In Node.js
// lib/locks/node.js replaces them and adds the wider scopes, so that the files of boxoffice/local import nothing of
// Node.js. Read each property at every use: a program may load boxoffice/local before boxoffice.

// Taken now: tests replace the clock later.
const clock = globalThis.performance ?? Date
const { now } = clock

/** A module of Node.js, in runtimes that need no import for it: Node.js from 20.16, Bun, Deno, Cloudflare Workers. */
function builtin(name) {
  try {
    return globalThis.process?.getBuiltinModule?.(name)
  } catch {
    // The edge runtime of Next.js has the function of Node.js, and throws when it is called.
  }
}

module.exports = {
  now: now.bind(clock),

  /**
   * events.addAbortListener(): adds a listener from which no other listener can withhold the event. Undefined if the
   * runtime lacks it.
   */
  addAbortListener: builtin('events')?.addAbortListener,

  /** Lets any number of jobs listen to `signal`. Node.js warns of more than ten listeners. */
  expectListeners(_signal) {},

  /** Returns a new AsyncLocalStorage, or undefined if the runtime has none. */
  contextStorage() {
    const Storage = globalThis.AsyncLocalStorage ?? builtin('async_hooks')?.AsyncLocalStorage
    return Storage && new Storage()
  },

  isMainThread: () =>
    builtin('worker_threads')?.isMainThread ?? globalThis.WorkerGlobalScope === undefined,

  /** Called when `lock`, which may be a keyed map, is about to get its first waiter or its first caller of onIdle(). */
  trackWaits(_lock) {},

  /** Warns of a caller's mistake. In Node.js the warning has the caller's stack, with `what` as its title. */
  warnHere: (_code, message, _what) => console.warn(`boxoffice: ${message}`),

  /** Returns `value`, which the callback of a blocking call has returned. In Node.js it warns if that is a Promise. */
  atOnce: (value) => value,

  /** Returns how an error shows a value that is not an object of this package. */
  describe: (value) => (value instanceof Object ? 'another object' : String(value)),

  /** The end of a timeout's message without diagnostics: how to see the holders. */
  howToSeeHolders: '',

  /** The method by which console.log() of Node.js prints an object. */
  inspecting: Symbol.for('nodejs.util.inspect.custom'),

  /** What that method returns for a lock. */
  inspected: (it) => it,

  /** Returns the exports of lib/options/scopes.js. Undefined if there are only locks of one thread. */
  scopes: undefined,

  /**
   * Makes a kind of keyed mutex reentrant: lib/locks/reentrant.js. Undefined in boxoffice/local, to keep bundles small.
   */
  reentrantKind: undefined,

  /** Whether locks without options have diagnostics. */
  isWatched: false,

  /** The calls of a lock's observer: lib/diagnostics/observed.js. A lock without an observer makes none. */
  observed: {},
}
