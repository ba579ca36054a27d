'use strict'
// The diagnostics of a keyed lock in one thread: the tally of all its keys. Each busy key also has its own observer.
const { threadId } = require('node:worker_threads')
const { isObservable, observe, scopeOf } = require('./observe.js')
const { now } = require('./clock.js')
const { refuseDiagnostics } = require('./levels.js')
const { register } = require('./registry.js')
const { waitersOf } = require('./reports.js')
const { tallied, Tally } = require('./tally.js')
const { Trace } = require('./trace.js')

class KeyedObserver {
  tally = new Tally()
  #keyMap

  /** The class of all keys in the order of locks (lock_order.js). */
  orderClass = undefined

  /** The stack of the constructor of a keyed lock without a name. */
  madeAt = undefined

  constructor(kind, scope, settings) {
    this.kind = kind
    this.scope = scope
    this.settings = settings
  }

  /** Gives `lock`, a lock for keys of this map, an observer. */
  watches(lock) {
    return observe(lock, this.kind, this.scope, this.settings, this)
  }

  /** Returns the stack of a caller that is about to wait for several keys of this map. */
  trace() {
    return this.settings.isFull ? new Trace() : undefined
  }

  /** A text that differs between maps whose locks have different diagnostics. */
  get traits() {
    const { isFull, isOrdered, warnAfter } = this.settings
    return `${isFull} ${isOrdered} ${warnAfter}`
  }

  /** Makes it the observer of `keyMap`, unless another object of the same name has set one already. */
  over(keyMap) {
    if (keyMap.watch !== undefined) return
    keyMap.watch = this
    this.#keyMap = keyMap
    if (keyMap.name === undefined) this.madeAt = this.trace()?.text
    register(this)
  }

  /** The snapshot of a key whose state is `held`. `lock` is this thread's lock of the key, if it has one. */
  seen(lock, held) {
    if (lock !== undefined) return lock.observer.seen(held)
    return { ...held, holders: held.holderPids.map((pid) => ({ pid })) }
  }

  reports() {
    if (this.#keyMap.isGone) return []
    const { kind, scope, tally, madeAt } = this
    const { name } = this.#keyMap
    const time = now()
    const thread = name === undefined ? threadId : undefined
    // In quotes, since the id of a key begins with it: what follows must not be part of another name.
    const id = `${kind} ${name === undefined ? tally.id : `${scope} ${JSON.stringify(name)}`}`
    const keys = this.#keyMap.snapshot().map(({ key, waiting, holders, oldestWait }) => {
      const isCut = typeof key === 'object'
      const keyId = isCut ? `${id} ${key.id}` : `${id} ${typeof key} ${key}`
      // Another thread gets a copy of the report, so a CutKey is replaced by its text.
      const shown = isCut ? String(key) : key
      // A key that only other threads or processes use has no lock here.
      const lock = this.#keyMap.find(key)
      const waiters = lock === undefined ? [] : waitersOf(lock.observer, time)
      // One literal: there may be very many keys.
      // biome-ignore format: its fields in one line
      return { kind, name, key: shown, scope, id: keyId, map: id, thread, holders, waiting, oldestWait, waiters }
    })
    const whole = { kind, name, scope, madeAt, id, thread, holders: [], waiting: 0, waiters: [] }
    return [{ ...whole, ...tallied(tally) }, ...keys]
  }
}

/** Returns the observer of a keyed lock of `kind`, or undefined without diagnostics. */
function keyedObserver(settings, kind) {
  const { diagnostics } = settings
  if (isObservable(kind)) return new KeyedObserver(kind.class, scopeOf(settings), diagnostics)
  refuseDiagnostics(diagnostics, `${kind.name}s`)
  return undefined
}

module.exports = { keyedObserver }
