'use strict'
const { serialize } = require('node:v8')

/**
 * Throws unless the options `connection` can be sent to the renewing thread. The message advises to pass other options
 * to `call`. Does not use structuredClone(), which a vm context may lack.
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
