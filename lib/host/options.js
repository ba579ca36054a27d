'use strict'
// Reads constructor options of scope host: which processes share the lock, and where its files lie.
const path = require('node:path')
const { variable } = require('../core/builtins.js')
const { checkType, typeError } = require('../core/errors.js')
const { checkWellFormed } = require('../core/key_text.js')

const mostKeys = 2 ** 24
/** The longest name in bytes, as in src/host/names.h. */
const longestName = 65536

/**
 * Returns the options of scope host, or undefined for a lock of this process only. `isKeyed` tells whether the lock is
 * keyed.
 */
function readHost({ scope = 'process', name, buffer, directory, capacity }, isKeyed) {
  if (scope !== 'process' && scope !== 'host') {
    const hint = ': leave it out for one thread, or take an engine for several machines'
    throw typeError("scope must be 'process' or 'host'", scope, hint)
  }
  if (scope === 'process') {
    if (directory !== undefined || capacity !== undefined) {
      throw new TypeError("directory and capacity are for locks of scope 'host'")
    }
    return undefined
  }
  if (name === undefined) {
    throw new TypeError("a lock of scope 'host' needs a name: processes find it by that")
  }
  if (buffer !== undefined) {
    throw new TypeError("a lock of scope 'host' is shared by its name, not by a buffer")
  }
  checkHostName(name)
  if (capacity !== undefined) checkCapacity(capacity, isKeyed)
  return { name, directory: readDirectory(directory), capacity }
}

function checkHostName(name) {
  checkWellFormed(name)
  const size = Buffer.byteLength(name)
  if (size > longestName) {
    throw new RangeError(
      `name must have at most ${longestName} bytes of UTF-8 at scope 'host', not ${size}`,
    )
  }
}

/** Returns the directory, or '' if neither the option nor the environment names one: then C++ uses the default. */
function readDirectory(directory) {
  if (directory !== undefined) return checkDirectory('directory', directory)
  const named = variable('BOXOFFICE_DIRECTORY') ?? ''
  return named && checkDirectory('BOXOFFICE_DIRECTORY', named)
}

function checkDirectory(source, directory) {
  checkType(source, directory, 'string')
  if (!path.isAbsolute(directory) || directory.includes('\0')) {
    throw new RangeError(
      `${source} must be an absolute path, not ${JSON.stringify(directory)}: each process has a working directory of its own`,
    )
  }
  return directory
}

function checkCapacity(capacity, isKeyed) {
  if (!isKeyed) throw new TypeError('capacity is for keyed locks: a single one has no keys')
  checkType('capacity', capacity, 'number', ' of keys')
  if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= mostKeys)) {
    throw new RangeError(`capacity must be an integer from 1 to ${mostKeys}, not ${capacity}`)
  }
}

module.exports = { readHost }
