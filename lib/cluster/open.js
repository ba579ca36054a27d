'use strict'
// The locks over an engine, by name: with an engine, the constructors of lib/ use them instead of a
// local lock or key map.
const { AlikeKeyMap } = require('../core/alike_maps.js')
const { lockError } = require('../core/errors.js')
const { join } = require('./alike_locks.js')
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

/** Without ':', so that no name can look like another name with a key. */
const asPart = (name) => encodeURIComponent(name.toWellFormed())

/**
 * Holds are shared by name: a caller from inside a hold may use another object, with another
 * fairness.
 */
const makeHolds = () => new (require('../core/recursive_hold.js').Holds)()

/**
 * Throws unless locks of that kind can have these `times` over this engine: see
 * ../core/hold_times.js.
 */
function checkTimes(hub, times, kind) {
  if (times === undefined) return
  require('../core/hold_times.js').checkEngineTimes(times, kind)
  const { maxHold = hub.settings.maxHold, minHold } = times
  if (minHold === undefined) return
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

/** All locks, or keyed maps, that are one at the server. */
const alikeOf = (hub, prefix) => hub.shared(`alike ${prefix}`, () => new Set())

/** Locks of one name share their state in this thread if their times are equal. */
const textOf = (times) => `${times?.maxHold} ${times?.minHold}`

/** All locks of one name, on any machine, are one lock. `value` is a semaphore's. */
function lockOver(settings, lockKind, [value = 1]) {
  const { engine, name, isStrict, diagnostics, times } = settings
  const hub = hubOf(engine)
  const kind = lockKind.name
  checkTimes(hub, times, kind)
  if (name === undefined) {
    throw new TypeError(`a ${kind} over an engine needs a name, by which others find it`)
  }
  if (value < 1) throw new RangeError(`value must be 1 or more over an engine, not ${value}`)
  const prefix = `${kind}:${asPart(name)}`
  const make = () => {
    const lock = new kinds[kind]({ hub, kind, name, prefix, capacity: value, isStrict, times })
    join(lock, alikeOf(hub, prefix))
    if (kind === 'recursive mutex') lock.holds = hub.shared(`holds ${prefix}`, makeHolds)
    return lock
  }
  const traits = `${prefix} ${isStrict} ${value} ${textOf(times)}`
  if (diagnostics === undefined) return hub.shared(traits, make)
  const { observeSingle } = require('../diagnostics/observe.js')
  const { level, warnAfter } = diagnostics
  const watched = () => observeSingle(make(), lockKind, settings)
  return hub.shared(`${traits} ${level} ${warnAfter}`, watched)
}

/**
 * All key maps of one name, or without a name, are one. `watch` is its observer, if it has
 * diagnostics.
 */
function keyMapOver({ engine, name, isStrict, times }, kind, value, watch) {
  const hub = hubOf(engine)
  checkTimes(hub, times, kind)
  const prefix = `keyed ${kind}:${asPart(name ?? '')}:`
  const capacity = value === '' ? 1 : value
  const begin = () => new kinds[kind]({ hub, kind, name, prefix, capacity, isStrict, times })
  const make = watch === undefined ? begin : () => watch.watches(begin())
  const traits = `${prefix} ${isStrict} ${value} ${textOf(times)} ${watch?.traits}`
  return hub.shared(traits, () => {
    const map = new EngineKeyMap(hub, make, name, times)
    map.join(alikeOf(hub, prefix))
    return map
  })
}

class EngineKeyMap extends AlikeKeyMap {
  /** Tokens of different keys do not compare with each other. */
  hasTokensByKey = true
  #hub

  constructor(hub, make, name, times) {
    super([], make, name)
    this.#hub = hub
    this.times = times
  }

  get scope() {
    return 'cluster'
  }

  afterStart(begin) {
    return this.#hub.afterStart(begin)
  }

  /** Resolves when the map is idle, and the server has been told. */
  async onIdle() {
    await this.#hub.idle(super.onIdle(), this.alike)
  }
}

module.exports = { keyMapOver, lockOver }
