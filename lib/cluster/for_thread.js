'use strict'
const { serialize } = require('node:v8')

/**
 * The renewing thread connects with the same `connection`; `call` takes another one. Checked without structuredClone,
 * which a vm context may lack.
 */
function checkForThread(connection, call) {
  try {
    serialize(connection)
  } catch (error) {
    throw new TypeError(
      'the options of the connection go to the thread that renews leases, and cannot have functions in them: ' +
        `give ${call} some that have none (${error.message})`,
    )
  }
}

module.exports = { checkForThread }
