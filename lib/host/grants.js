'use strict'
// What the lock manager of scope host grants. Another process may steal it; C++ knows by its era whether one
// has (src/host/host_rw_part.h), and calls each thread of a process that was robbed.
const native = require('../load.js')
const { dressed } = require('../core/releaser.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { Reader, Writer } = require('../process/rw_grants.js')
const { addWakeupListener, eraOfGrant, grantedAbandoned, stolen } = require('../process/waiters.js')

const held = new Set()
let thefts = native.host.thefts()

/** Each grant of this thread that is not there any more hears of it. */
function lookForThefts() {
  if (held.size === 0) return
  const now = native.host.thefts()
  if (now === thefts) return
  thefts = now
  for (const grant of held) grant.look()
}
addWakeupListener(lookForThefts)

class Grant {
  isOver = false
  isStolen = false
  onStolen = undefined
  number = undefined
  controller = undefined

  constructor(core, isWriter, abandoned, era = eraOfGrant()) {
    this.core = core
    this.isWriter = isWriter
    this.abandoned = abandoned
    this.era = era
    held.add(this)
    if (isWriter) core.beganWriting()
    else core.beganReading()
    this.look() // others may have been called before we were here
  }

  look() {
    if (this.isOver || native.hostRWLock.isLost(this.core.place, this.era) === 0) return
    this.#end()
    this.#lose()
    this.core.calm()
  }

  release() {
    if (this.isOver) return
    checkStackToRelease()
    const count = native.hostRWLock.end(this.core.place, this.era, +this.isWriter)
    this.#end()
    if (count === stolen) this.#lose()
    this.core.dispatch(count)
  }

  /** A number larger than those of all grants before: drawn while it is held, or there is none. */
  token() {
    if (this.number === undefined && !this.isOver) {
      const drawn = native.host.fence(this.core.place)
      this.look()
      if (!this.isOver) this.number = drawn
    }
    return this.number
  }

  /** Aborted once it is stolen. */
  signal() {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      this.onStolen = () => this.controller.abort(this.stolenError())
      if (this.isStolen) this.onStolen()
    }
    return this.controller.signal
  }

  #end() {
    this.isOver = true
    held.delete(this)
    if (this.isWriter) this.core.endedWriting()
    else this.core.endedReading()
  }

  #lose() {
    this.isStolen = true
    this.onStolen?.()
  }

  stolenError() {
    return new DOMException(`${this.core.title()} has been stolen`, 'AbortError')
  }
}

class HostReader extends Reader {
  static value(core, _ask, abandoned) {
    return new Grant(core, false, abandoned)
  }
}

class HostWriter extends Writer {
  static value(core, _ask, abandoned) {
    return new Grant(core, true, abandoned)
  }
}

/** Granted at once, in place of all who hold it. */
function steal(core) {
  checkStack()
  const outcome = native.hostRWLock.steal(core.place)
  const era = eraOfGrant()
  // Those of ours first: they are over before it begins.
  for (const grant of held) if (grant.core === core) grant.look()
  return new Grant(core, true, outcome === grantedAbandoned, era)
}

function releaserOf(grant) {
  const release = () => grant.release()
  const shape = { configurable: true, enumerable: true }
  return Object.defineProperties(dressed(release, grant.abandoned), {
    fencingToken: { ...shape, get: () => grant.token() },
    signal: { ...shape, get: () => grant.signal() },
  })
}

module.exports = { HostReader, HostWriter, releaserOf, steal }
