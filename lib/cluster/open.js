'use strict'
// Opens locks and key maps over an engine, by name. Constructors with an `engine` use them instead of a
// local lock or key map.
const { commonMap } = require('../core/common_map.js')
const { lockError } = require('../core/errors.js')
const { checkAlike } = require('../core/hold_times.js')
const { KeyMap } = require('../core/key_map.js')
const { checkWellFormed } = require('../core/key_text.js')
const { hubOf } = require('./engine.js')
const { EngineMutex } = require('./engine_mutex.js')
const { EngineRWLock } = require('./engine_rw_lock.js')
const { EngineSemaphore } = require('./engine_semaphore.js')

const kinds = {
  lock: EngineRWLock,
  mutex: EngineMutex,
  'recursive mutex': EngineMutex,
  semaphore: EngineSemaphore,
  'read-write lock': EngineRWLock,
}

/** Returns a name without ':', so that no name can look like another name with a key. */
function asPart(name) {
  checkWellFormed(name)
  return encodeURIComponent(name)
}

/** The kinds of locks that can have a minHold over an engine. */
const exclusive = new Set(['mutex', 'recursive mutex'])

/** Throws if locks of that kind cannot have these `times` over this engine. */
function checkTimes(hub, times, kind) {
  if (times === undefined) return
  const { maxHold = hub.settings.maxHold, minHold } = times
  if (minHold === undefined) return
  if (!exclusive.has(kind)) {
    const message = `a ${kind} over an engine has no minHold: use a Mutex, a RecursiveMutex or a KeyedMutex, or scope 'host'`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }
  if (hub.driver.keepsMinHold !== true) {
    const message = `${hub.name} does not keep minHold: its driver must have keepsMinHold`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }
  if (minHold > maxHold) {
    throw new RangeError(
      `minHold must not be more than maxHold, which is ${maxHold} ms over this engine: give the lock a maxHold, too`,
    )
  }
}

/** Opens a lock. All locks of one name, on any machine, are one lock. `value` is the value of a semaphore. */
function lockOver({ engine, name, isStrict, times }, { name: kind }, [value = 1]) {
  const hub = hubOf(engine)
  checkTimes(hub, times, kind)
  if (name === undefined) {
    throw new TypeError(`a ${kind} over an engine needs a name, by which others find it`)
  }
  if (value < 1) throw new RangeError(`value must be 1 or more over an engine, not ${value}`)
  const prefix = `${kind}:${asPart(name)}`
  const lock = hub.shared(`${prefix} ${value}`, () => {
    return new kinds[kind]({ hub, kind, name, prefix, capacity: value, times })
  })
  checkAlike(lock.times, times, { kind, name }, null)
  if (isStrict) lock.beStrict()
  return lock
}

/**
 * Opens a key map. All key maps of one name are one, and so are all without a name. `watch` is the observer, if any.
 */
function keyMapOver({ engine, name, isStrict, times }, kind, value, watch) {
  const hub = hubOf(engine)
  checkTimes(hub, times, kind)
  const prefix = `keyed ${kind}:${asPart(name ?? '')}:`
  const capacity = value === '' ? 1 : value
  const make = () => new kinds[kind]({ hub, kind, name, prefix, capacity, times })
  const map = hub.shared(`${prefix} ${value}`, () => new EngineKeyMap(hub, make, name, times))
  const title = kind === 'lock' ? 'lock manager' : `keyed ${kind}`
  checkAlike(map.times, times, { kind: title, name }, null)
  map.isFor(isStrict, watch)
  return map
}

class EngineKeyMap extends commonMap(KeyMap) {
  scope = 'cluster'
  /** Whether each key has its own tokens, which cannot be compared with those of other keys. */
  hasTokensByKey = true
  #hub

  constructor(hub, make, name, times) {
    super([], make, name)
    this.#hub = hub
    this.times = times
  }

  afterStart(begin) {
    return this.#hub.afterStart(begin)
  }

  /** Resolves when the map is idle, and the server has been told. */
  async onIdle() {
    await this.#hub.idle(super.onIdle(), this.times)
  }
}

module.exports = { keyMapOver, lockOver }
