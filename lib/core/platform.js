'use strict'
// What locks of one thread take from the program around them. These are the defaults, for any runtime of JavaScript.
// lib/locks/node.js replaces them in Node.js, and adds the wider scopes, so that the files of boxoffice/local import
// none of that. Its users read each at every use: a program may load boxoffice/local before boxoffice.

// Taken now: tests replace the clock later.
const clock = globalThis.performance ?? Date
const { now } = clock

/** A module of Node.js from a runtime that gives it without an import: Node.js from 20.16, Bun, Deno, Cloudflare Workers. */
const builtin = (name) => globalThis.process?.getBuiltinModule?.(name)

module.exports = {
  now: now.bind(clock),

  /**
   * events.addAbortListener(): adds a listener that no other listener can keep from its event. Undefined where a runtime
   * has none.
   */
  addAbortListener: builtin('events')?.addAbortListener,

  /** Lets any number of jobs listen to `signal`. Node.js warns of more than ten listeners. */
  expectListeners(_signal) {},

  /** A new AsyncLocalStorage, or undefined where the runtime has none. */
  contextStorage() {
    const Storage = globalThis.AsyncLocalStorage ?? builtin('async_hooks')?.AsyncLocalStorage
    return Storage && new Storage()
  },

  isMainThread: () =>
    builtin('worker_threads')?.isMainThread ?? globalThis.WorkerGlobalScope === undefined,

  /** `lock`, which may be a keyed map, is about to get its first waiter, or the first caller of onIdle(). */
  trackWaits(_lock) {},

  /** Warns of a mistake. `what` the caller did is shown with its stack, where the runtime has warnings. */
  warnHere: (_code, message, _what) => console.warn(`boxoffice: ${message}`),

  /** Returns `value`, which the callback of a blocking call has returned, and warns of a Promise where it can. */
  atOnce: (value) => value,

  /** Returns the text by which an error shows a value that is no object of this package. */
  describe: (value) => (value instanceof Object ? 'another object' : String(value)),

  /** The end of a timeout's message, where diagnostics would name the holders. */
  howToSeeHolders: '',

  /** The method by which console.log() of Node.js prints an object. */
  inspecting: Symbol.for('nodejs.util.inspect.custom'),

  /** What that method returns for a lock. */
  inspected: (it) => it,

  /** Returns the exports of lib/options/scopes.js. Undefined where there are locks of one thread only. */
  scopes: undefined,

  /** Makes a kind of keyed mutex reentrant: lib/locks/reentrant.js. Undefined where it would make each bundle larger. */
  reentrantKind: undefined,

  /** Whether locks without options have diagnostics. */
  isWatched: false,

  /** The calls of a lock's observer: lib/diagnostics/observed.js. A lock without an observer makes none. */
  observed: {},
}
