'use strict'
// What one thread knows of a keyed map that is watched: the tally of all its keys. Each key that is busy has an
// observer of its own.
const { isObservable, observe, scopeOf } = require('./observe.js')
const { levels, refuseDiagnostics } = require('./levels.js')
const { register } = require('./registry.js')
const { tallied, Tally } = require('./tally.js')
const { Trace } = require('./trace.js')

class KeyedObserver {
  tally = new Tally()
  #keyMap

  constructor(kind, scope, settings) {
    this.kind = kind
    this.scope = scope
    this.settings = settings
  }

  /** `lock` is for keys of it. */
  watches(lock) {
    const { kind, scope, settings, tally } = this
    return observe(lock, kind, scope, settings, tally)
  }

  /** Of a caller that waits for several keys of it. */
  trace() {
    return this.settings.level === levels.full ? new Trace() : undefined
  }

  /** What tells its cores from those of others. */
  get traits() {
    const { level, warnAfter } = this.settings
    return `${level} ${warnAfter}`
  }

  /** It is of `keyMap`, unless that has one already, of another object of the same name. */
  over(keyMap) {
    if (keyMap.watch !== undefined) return
    keyMap.watch = this
    this.#keyMap = keyMap
    register(this)
  }

  /** What is to be seen of a key that is `held` like that, of which this thread has `lock`, or none. */
  seen(lock, held) {
    if (lock !== undefined) return lock.observer.seen(held)
    return { ...held, holders: held.holderPids.map((pid) => ({ pid })) }
  }

  reports() {
    const { kind, scope, tally } = this
    const { name } = this.#keyMap
    const isShared = name !== undefined
    const id = isShared ? `${kind} ${scope} ${name}` : `${kind} ${tally.id}`
    const keys = this.#keyMap.snapshot().map(({ key, waiting, holders, oldestWait }) => {
      const keyId = `${id} ${typeof key} ${key}`
      const what = { kind, name, key, scope, id: keyId, map: id, isShared }
      return { ...what, holders, waiting, oldestWait }
    })
    const whole = { kind, name, scope, id, isShared, holders: [], waiting: 0 }
    return [{ ...whole, ...tallied(tally) }, ...keys]
  }
}

/** That of a keyed map of `kind`, or undefined where it is not watched. */
function keyedObserver(settings, kind) {
  const { diagnostics } = settings
  if (isObservable(kind)) return new KeyedObserver(kind.class, scopeOf(settings), diagnostics)
  refuseDiagnostics(diagnostics, `${kind.name}s`)
  return undefined
}

module.exports = { keyedObserver }
