'use strict'
// Makes the key map that a constructor's options describe: of this thread, or by lib/scopes.js.
const { LocalLock } = require('../core/lock.js')
const { KeyMap } = require('../core/key_map.js')

/** The key map that `settings` describe, of locks of `kind` that begin with `value`. */
function openKeyMap(kind, value, settings) {
  const { scopes } = settings
  return scopes === undefined
    ? localKeyMap(kind, value, settings)
    : scopes.openKeyMap(kind, value, settings)
}

/** `watch` is the map's observer, if it has one. */
function localKeyMap(kind, value, { mayBlock }, watch) {
  const make = () => kind.local(value)
  const isUsual = mayBlock === LocalLock.prototype.mayBlock
  if (isUsual && watch === undefined) return new KeyMap(kind.atRest ?? [], make)
  // A lock with its own settings must not be reused by other maps.
  const makeOwn = () => Object.assign(make(), { mayBlock })
  if (watch === undefined) return new KeyMap([], makeOwn)
  const map = new KeyMap([], () => watch.watches(makeOwn()))
  watch.over(map)
  return map
}

module.exports = { localKeyMap, openKeyMap }
