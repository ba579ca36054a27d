'use strict'
// The locks over an engine, by name: what the constructors of lib/ take in place of a core, or of a home, when they
// are given an engine.
const { KeyMap } = require('../core/key_map.js')
const { hubOf } = require('./engine.js')
const { MutexLine } = require('./mutex_line.js')
const { RWLine } = require('./rw_line.js')
const { SemaphoreLine } = require('./semaphore_line.js')

const Lines = {
  lock: RWLine,
  mutex: MutexLine,
  semaphore: SemaphoreLine,
  'read-write lock': RWLine,
}

/** Those that are there without keys. */
const singles = ['mutex', 'read-write lock']

/** Without ':', so that no name can look like another one with a key. */
const asPart = (name) => encodeURIComponent(name.toWellFormed())

/** All that have the name, on whatever machine, are one lock. */
function lineOver(settings, lockKind) {
  const { engine, name, isStrict, diagnostics } = settings
  const hub = hubOf(engine)
  const kind = lockKind.name
  if (!singles.includes(kind)) throw new TypeError(`the ${kind} has no form over an engine`)
  if (name === undefined) {
    throw new TypeError(`a ${kind} over an engine needs a name, by which others find it`)
  }
  const prefix = `${kind}:${asPart(name)}`
  const traits = { hub, kind, name, prefix, capacity: 1, isStrict }
  if (diagnostics === undefined) {
    return hub.shared(`${prefix} ${isStrict}`, () => new Lines[kind](traits))
  }
  const { observeSingle } = require('../diagnostics/observe.js')
  const { level, warnAfter } = diagnostics
  return hub.shared(`${prefix} ${isStrict} ${level} ${warnAfter}`, () =>
    observeSingle(new Lines[kind](traits), lockKind, settings),
  )
}

/** In place of a home: all that have the name, or none, are one map. `watch` is its record, if it is watched. */
function homeOver({ engine, name, isStrict }, kind, value, watch) {
  const hub = hubOf(engine)
  const prefix = `keyed ${kind}:${asPart(name ?? '')}:`
  const traits = { hub, kind, name, prefix, capacity: value === '' ? 1 : value, isStrict }
  const begin = () => new Lines[kind](traits)
  const make = watch === undefined ? begin : () => watch.watches(begin())
  return hub.shared(
    `${prefix} ${isStrict} ${value} ${watch?.traits}`,
    () => new KeyMap([], make, name),
  )
}

module.exports = { homeOver, lineOver }
