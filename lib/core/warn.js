'use strict'
// The warnings of this package, by process.emitWarning. A site emits one warning in a second, however often it errs. The
// warnings in between are counted, and the last of them is emitted with their number when the second is over, or when
// the process ends before.
const { throwLater } = require('./abort.js')
const { setTimeout } = require('./builtins.js')
const { callSite } = require('./sites.js')

const type = 'BoxofficeWarning'
const pause = 1000
/** Beyond this number, all further sites of a code count as one, because names and stacks may differ without end. */
const mostSites = 100

/** By code, the sites with a warning in the last second. */
const codes = new Map()
/** The key of the sites beyond them. */
const others = Symbol('others')
/** The sites with warnings that were left out. */
const waiting = new Set()

/** process.emitWarning() may be a program's own. What it throws must not cost the caller its lock. */
function emit({ code, message, detail }) {
  try {
    process.emitWarning(message, { type, code, detail })
  } catch (error) {
    throwLater(error)
  }
}

/** process.emitWarning() waits for the next tick, which does not come any more. */
function emitAtExit({ message, ...more }) {
  process.emit('warning', Object.assign(new Error(message), { name: type, ...more }))
}

class Site {
  #sites
  #key
  #last
  #left = 0

  /** `sites` are those of its code. */
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

  /** Emits the last warning that was left out, for all of them. */
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

/** `site` is what warnings of one cause have in common: a stack, or the name of a lock. */
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

/** Warns with the stack of the caller, where `what` happened. */
function warnHere(code, message, what) {
  const stack = callSite()
  const detail = stack === '' ? undefined : `${what} here:\n${stack}`
  warn(code, message, { detail, site: message + stack })
}

module.exports = { warn, warnHere }
