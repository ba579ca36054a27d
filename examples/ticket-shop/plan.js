'use strict'

/** Double and triple clicks, in turn, unless `clicks` is their number. One entry per request. */
module.exports = function plan(users, clicks) {
  const requests = []
  for (let user = 0; user < users; user++) {
    const count = clicks ?? 2 + (user % 2)
    for (let click = 0; click < count; click++) requests.push(user)
  }
  return requests
}
