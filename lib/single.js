'use strict'
// What every object has in common that stands for a single core: a lock, an event, a condition ...
const { lineOver } = require('./engines/lines.js')
const { hostCoreOf } = require('./host_cores.js')
const { shown, watched } = require('./diagnostics/watched.js')
const { checkMayBlock, readLockOptions, settle } = require('./lock_options.js')

/** The core of one: for the classes derived from it, and those that work with their objects. */
let coreOf
/** The same for `method`, which is about to block this thread. */
let blockingCoreOf
/** What cancel() of it rejects with: over an engine objects of one core may differ in that. */
let cancelErrorOf

class Single {
  #core
  #cancelError

  static {
    coreOf = (single) => single.#core
    blockingCoreOf = (single, method) => {
      checkMayBlock(single.#core.mayBlock, method)
      return single.#core
    }
    cancelErrorOf = (single) => single.#cancelError
  }

  /** `known` are the names of its options, where it has more than others. */
  constructor(core, options, known) {
    const settings = readLockOptions(options, core.kind.bytes, known)
    const { cancelError, engine, host } = settings
    this.#cancelError = cancelError
    if (engine !== undefined) {
      this.#core = lineOver(settings, core)
      return
    }
    const plain = host === undefined ? core : hostCoreOf(core, host)
    this.#core = settings.diagnostics === undefined ? plain : watched(plain, settings)
    settle(this.#core, settings)
    if (settings.diagnostics !== undefined) shown(this.#core)
  }

  get buffer() {
    return this.#core.shareOut().buffer
  }

  get byteOffset() {
    return this.#core.shareOut().byteOffset
  }
}

module.exports = { blockingCoreOf, cancelErrorOf, coreOf, Single }
