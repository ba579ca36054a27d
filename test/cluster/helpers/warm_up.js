'use strict'
// A busy machine may need longer to connect, or to start a thread, than a short answerTimeout allows: the engine then
// knows neither a session nor a reason why there is none.
const { randomUUID } = require('node:crypto')

/** A wait that has failed this often fails the test. */
const mostTries = 20

/** Opens the session of the engine of `mutex`. */
async function warmUp(mutex) {
  for (let tries = 1; ; tries++) {
    try {
      return await mutex.runExclusive(randomUUID(), () => {})
    } catch (error) {
      if (error.code !== 'ERR_LOCK_ENGINE' || tries === mostTries) throw error
    }
  }
}

/** The error of a caller that the server turns away, once the engine knows why. */
async function refusalOf(mutex, limits) {
  for (let tries = 1; ; tries++) {
    const error = await mutex.acquire('key', limits).catch((reason) => reason)
    if (error.cause !== undefined || tries === mostTries) return error
  }
}

module.exports = { refusalOf, warmUp }
