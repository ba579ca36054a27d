'use strict'
// Explains which rights the database user of the connections needs.
const { causedError } = require('../../core/caused_errors.js')

/** The SQLSTATE of a refusal: permission denied. */
const forbidden = '42501'

/** Returns `error`; if the server refused its user a right, an error that says how to grant it. */
function explained(error, { schema, leases }) {
  if (error.code !== forbidden) return error
  return causedError(
    'ERR_LOCK_ENGINE_SCHEMA',
    `${leases} is not there and this user may not create it, or may not use it (${error.message}): run the SQL of ` +
      `postgresSchema() as a user that may, and grant this one USAGE of schema ${schema} and all rights to its tables`,
    error,
  )
}

module.exports = { explained }
