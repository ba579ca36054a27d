'use strict'
// Keyed maps of one kind and name whose settings differ. They have the same keys, so onIdle() of each waits for the callers
// of all.
const { KeyMap } = require('./key_map.js')
const { IdlePromise } = require('./lock.js')

/** The promise of onIdle() of all maps with the same keys. */
class CommonPromise extends IdlePromise {
  drop(map) {
    for (const one of map.alike) super.drop(one)
  }
}

class AlikeKeyMap extends KeyMap {
  /** The maps with the same keys, this one among them. */
  alike

  /** `alike` are the others with the same keys. */
  join(alike) {
    const [other] = alike
    this.alike = alike.add(this)
    if (other !== undefined) this.#awaitAs(other)
  }

  onIdle() {
    if (this.idleListener === null) {
      this.idleListener = new CommonPromise()
      this.awaited = new Set(Array.from(this.alike).flatMap((map) => [...map.locks()]))
      for (const map of this.alike) map.#awaitAs(this)
    }
    return super.onIdle()
  }

  #awaitAs({ idleListener, awaited }) {
    this.idleListener = idleListener
    this.awaited = awaited
  }
}

module.exports = { AlikeKeyMap }
