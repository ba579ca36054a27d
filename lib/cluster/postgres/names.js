'use strict'
// What things are called in the database. Names are of letters, digits and underscores, so that nothing in them
// needs an escape, wherever they stand.
const { createHash } = require('node:crypto')
const { checkKnown, checkObject } = require('../../core/options.js')
const { engineOptions } = require('../engine.js')

const word = /^[A-Za-z_][A-Za-z0-9_]*$/
/** What is derived from it must fit into the 63 bytes of PostgreSQL. */
const longestName = 40

function checkName(what, name) {
  if (typeof name !== 'string') throw new TypeError(`${what} must be a string`)
  if (!word.test(name) || name.length > longestName) {
    throw new RangeError(
      `${what} must be at most ${longestName} letters, digits and underscores, and begin with no digit, not ${JSON.stringify(name)}`,
    )
  }
}

/** What postgres() takes. postgresSchema() may be given the same object. */
const postgresOptions = new Set([...engineOptions, 'schema', 'table', 'connection', 'connections'])

/** The names of all that the engine makes in the database: those of functions have the version of the code. */
function readNames(options) {
  checkObject(options)
  checkKnown(options, postgresOptions)
  const { schema = 'boxoffice', table = 'leases' } = options
  checkName('schema', schema)
  checkName('table', table)
  const named = (suffix) => `"${schema}"."${table}${suffix}"`
  return {
    schema,
    leases: named(''),
    sessions: named('_sessions'),
    longest: named('_longest_ttl'),
    stake: named('_stake'),
    usedAt: `"${table}_used_at"`,
    alive: named('_alive_1'),
    clean: named('_clean_1'),
    admit: named('_admit_2'),
    enter: named('_enter_3'),
    confirm: named('_confirm_1'),
    leave: named('_leave_4'),
    renew: named('_renew_1'),
    open: named('_open_1'),
  }
}

/** An index has no room for longer ones. */
const longestKey = 500
const digestMark = 'sha256:'

/**
 * The key as the table has it: itself, if every encoding of a database has all of its letters and an index has
 * room for it, and else its digest. None looks like that of another.
 */
function rowOf(key) {
  const isPlain = /^[\x20-\x7e]*$/.test(key)
  if (isPlain && key.length <= longestKey && !isDigest(key)) return key
  // Not UTF-8, where all halves of surrogate pairs are one.
  return digestMark + createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')
}

const isDigest = (row) => row.startsWith(digestMark)

/** Where a session hears of what happens. */
const channelOf = (session) => `boxoffice ${session}`

module.exports = { channelOf, isDigest, readNames, rowOf }
