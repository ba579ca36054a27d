'use strict'
// The names of objects in the database. Only letters, digits and underscores are allowed, so that no statement needs to
// escape them.
const { checkType } = require('../../core/errors.js')
const { checkKnown, checkObject } = require('../../core/options.js')
const { engineOptions } = require('../engine.js')

const word = /^[A-Za-z_][A-Za-z0-9_]*$/
/** The longest name of a table: names that are derived from it must fit into PostgreSQL's 63 bytes. */
const longestName = 40

function checkName(what, name) {
  checkType(what, name, 'string')
  if (!word.test(name) || name.length > longestName) {
    throw new RangeError(
      `${what} must be at most ${longestName} letters, digits and underscores, and begin with no digit, not ${JSON.stringify(name)}`,
    )
  }
}

/** The options of postgres(), which postgresSchema() accepts as well. */
const postgresOptions = new Set([...engineOptions, 'schema', 'table', 'connection', 'connections'])

/**
 * Returns the names of everything that the engine creates in the database. The name of a function includes the version
 * of its code.
 */
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
    request: named('_request'),
    usedAt: `"${table}_used_at"`,
    alive: named('_alive_2'),
    clean: named('_clean_3'),
    admit: named('_admit_4'),
    enter: named('_enter_9'),
    confirm: named('_confirm_3'),
    leave: named('_leave_10'),
    renew: named('_renew_2'),
    open: named('_open_2'),
  }
}

/** The channel on which a session listens. */
const channelOf = (session) => `boxoffice ${session}`

module.exports = { channelOf, readNames }
