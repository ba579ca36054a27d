'use strict'
// What the user of the connections must be allowed to do.
const { lockError } = require('../../core/errors.js')

/** The SQLSTATE of a refusal: permission denied. */
const forbidden = '42501'

/** `error`, or where the server has refused what its user has no right to, one that says how to give it that. */
function explained(error, { schema, leases }) {
  if (error.code !== forbidden) return error
  const known = lockError(
    'ERR_LOCK_ENGINE_SCHEMA',
    `${leases} is not there and this user may not create it, or may not use it (${error.message}): run the SQL of ` +
      `postgresSchema() as one who may, and grant this one USAGE of schema ${schema} and all rights to its tables`,
  )
  known.cause = error
  return known
}

module.exports = { explained }
