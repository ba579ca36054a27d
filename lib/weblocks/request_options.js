'use strict'
// Reads the options of a request of the lock manager: converts them as WebIDL does, then checks them as the Web Locks
// standard does. Reads each option once, in the order of the standard.
const { typeError } = require('../core/errors.js')
const { nameOf } = require('../core/keys.js')
const {
  checkKnown,
  checkPriority,
  checkSignal,
  checkTimeout,
  checkWaitObject,
} = require('../core/options.js')

const modes = { exclusive: 0, shared: 1 }
const modeNames = Object.keys(modes)

const usual = Object.freeze({
  ifAvailable: false,
  mode: modes.exclusive,
  signal: undefined,
  steal: false,
  priority: 0,
  timeout: undefined,
})

const requestOptions = new Set([...Object.keys(usual), 'scope'])

/** Reads the options of acquire(). Throws for unknown options, unlike request(), where the standard ignores them. */
function readAcquireRequest(options) {
  if (typeof options === 'function') {
    throw new TypeError('acquire() takes no callback: use request()')
  }
  if (typeof options === 'object' && options !== null) checkKnown(options, requestOptions)
  return readRequest(options)
}

function readRequest(options) {
  if (options === undefined || options === null) return usual
  if (typeof options !== 'function') checkWaitObject(options)
  // Read each once, because options may have getters.
  const ifAvailable = Boolean(options.ifAvailable)
  const mode = readMode(options.mode)
  const { signal } = options
  if (signal !== undefined) checkSignal(signal)
  const steal = Boolean(options.steal)
  const { priority = 0, scope = 'process', timeout } = options
  checkPriority(priority)
  if (scope !== 'process') {
    throw new RangeError(`unknown scope ${describe(scope)}: request() knows 'process' only`)
  }
  if (timeout !== undefined) checkTimeout(timeout)
  return { ifAvailable, mode, signal, steal, priority, timeout }
}

function readMode(given) {
  if (given === undefined) return modes.exclusive
  const mode = `${given}`
  if (!Object.hasOwn(modes, mode)) throw typeError("mode must be 'exclusive' or 'shared'", given)
  return modes[mode]
}

const describe = (value) => (typeof value === 'string' ? nameOf(value) : String(value))

/** Throws the standard's errors, before a request is made. */
function checkRequest(name, { ifAvailable, mode, signal, steal }) {
  if (name[0] === '-') throw notSupported(`a name must not begin with '-': ${nameOf(name)}`)
  if (steal && ifAvailable) throw notSupported('steal and ifAvailable cannot be had together')
  if (steal && mode !== modes.exclusive) throw notSupported('only an exclusive lock can be stolen')
  if (signal !== undefined && (steal || ifAvailable)) {
    throw notSupported('a request that does not wait takes no signal')
  }
}

function notSupported(message) {
  return new DOMException(message, 'NotSupportedError')
}

module.exports = { checkRequest, modeNames, notSupported, readAcquireRequest, readRequest }
