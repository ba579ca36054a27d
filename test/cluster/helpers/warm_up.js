'use strict'
// On a busy machine, connecting or starting a thread may take longer than a short answerTimeout:
// the engine then knows neither a session nor a reason for its absence.
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

/** The error of a caller that the server rejects, once the engine knows why. */
async function refusalOf(mutex, limits) {
  for (let tries = 1; ; tries++) {
    const error = await mutex.acquire('key', limits).catch((reason) => reason)
    if (error.cause !== undefined || tries === mostTries) return error
  }
}

module.exports = { refusalOf, warmUp }
