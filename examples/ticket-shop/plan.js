'use strict'

/** Double and triple clicks, turn by turn, unless `clicks` says how many. One entry a request. */
module.exports = function plan(users, clicks) {
  const requests = []
  for (let user = 0; user < users; user++) {
    const count = clicks ?? 2 + (user % 2)
    for (let click = 0; click < count; click++) requests.push(user)
  }
  return requests
}
