'use strict'
// The warnings of this package, by process.emitWarning(). A site emits at most one warning per second. Further warnings
// of that second are counted, and the last one is emitted with the count when the second is over or the process ends.
const { throwLater } = require('./abort.js')
const { setTimeout } = require('./builtins.js')
const { callSite } = require('./sites.js')

const type = 'BoxofficeWarning'
const pause = 1000
/** When a code has this many sites, all its further sites count as one: there may be any number of names and stacks. */
const mostSites = 100

/** By code, the sites with a warning in the last second. */
const codes = new Map()
/** The key of all sites beyond `mostSites`. */
const others = Symbol('others')
/** The sites with counted warnings that are still to be emitted. */
const waiting = new Set()

/** A program may have replaced process.emitWarning(). An error that it throws must not cost the caller its lock. */
function emit({ code, message, detail }) {
  try {
    process.emitWarning(message, { type, code, detail })
  } catch (error) {
    throwLater(error)
  }
}

/** process.emitWarning() emits in the next tick, and at exit there is none. */
function emitAtExit({ message, ...more }) {
  process.emit('warning', Object.assign(new Error(message), { name: type, ...more }))
}

class Site {
  #sites
  #key
  #last
  #left = 0

  /** `sites` are the sites of one code. */
  constructor(sites, key) {
    this.#sites = sites
    this.#key = key
    sites.set(key, this)
    this.#rests()
  }

  #rests() {
    setTimeout(() => this.#isRested(), pause).unref()
  }

  #isRested() {
    if (this.#left === 0) {
      this.#sites.delete(this.#key)
      return
    }
    this.#rests()
    this.tell(emit)
  }

  leaveOut(warning) {
    this.#left++
    this.#last = warning
    if (waiting.size === 0) process.on('exit', tellAll)
    waiting.add(this)
  }

  /** Emits the last counted warning with the count. */
  tell(emitOne) {
    const { message, ...more } = this.#last
    const others = this.#left - 1
    const count = others === 0 ? '' : ` (and ${others.toLocaleString('en-US')} more like it)`
    this.#left = 0
    this.#last = undefined
    waiting.delete(this)
    if (waiting.size === 0) process.off('exit', tellAll)
    emitOne({ message: message + count, ...more })
  }
}

function tellAll() {
  for (const site of waiting) site.tell(emitAtExit)
}

/** Warns. `site` is equal for warnings of one cause: a stack, or the name of a lock. */
function warn(code, message, { detail, site = message } = {}) {
  if (!codes.has(code)) codes.set(code, new Map())
  const sites = codes.get(code)
  const key = sites.has(site) || sites.size < mostSites ? site : others
  const warning = { code, message, detail }
  const known = sites.get(key)
  if (known !== undefined) {
    known.leaveOut(warning)
    return
  }
  new Site(sites, key)
  emit(warning)
}

/** Warns with the stack of the caller under the title `what`. */
function warnHere(code, message, what) {
  const stack = callSite()
  const detail = stack === '' ? undefined : `${what} here:\n${stack}`
  warn(code, message, { detail, site: message + stack })
}

module.exports = { warn, warnHere }
