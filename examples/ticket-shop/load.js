'use strict'
const autocannon = require('autocannon')
const plan = require('./plan.js')

/**
 * Fires the clicks of all users at a shop. All connections draw from one plan, in which the clicks
 * of a user are neighbours: they go out side by side, over different connections.
 *
 * @param {object} options
 * @param {string} options.url
 * @param {number} options.users
 * @param {number} [options.clicks] of each user
 * @param {number} options.connections
 * @param {(progress: { done: number, total: number }) => void} [options.onProgress] once a second
 */
module.exports = async function fireClicks({ url, users, clicks, connections, onProgress }) {
  const requests = plan(users, clicks)
  const total = requests.length
  const pending = new Uint16Array(users) // clicks of a user that wait for an answer
  const tickets = new Uint16Array(users) // tickets a user was told to have been made
  const times = []
  const statuses = {}
  const errors = []
  let drawn = 0
  let concurrent = 0
  let start = 0
  let end = 0

  function setupClient(client) {
    let user
    client.setRequests([
      {
        method: 'POST',
        path: '/tickets',
        headers: { 'content-type': 'application/json' },
        setupRequest(request) {
          // After a connection was lost autocannon asks for more than there is; the run has failed.
          user = requests[drawn++ % total]
          if (pending[user]++ > 0) concurrent++
          return { ...request, body: JSON.stringify({ user: `user-${user}` }) }
        },
        onResponse(status) {
          pending[user]--
          if (status === 201) tickets[user]++
        },
      },
    ])
  }

  const run = autocannon({
    url,
    setupClient,
    connections: Math.min(connections, total),
    amount: total,
    sampleInt: 100, // autocannon looks only this often whether it is done
  })
  run.on('start', () => {
    start = performance.now()
  })
  run.on('response', (_client, status, _bytes, time) => {
    end = performance.now()
    times.push(time)
    statuses[status] = (statuses[status] ?? 0) + 1
  })
  run.on('reqError', (error) => errors.push(error.message))
  if (onProgress) run.on('tick', () => onProgress({ done: times.length, total }))
  await run

  times.sort((a, b) => a - b)
  const percentile = (share) => times[Math.ceil(times.length * share) - 1]
  return {
    requests: times.length,
    concurrent,
    seconds: (end - start) / 1000,
    p50: percentile(0.5),
    p99: percentile(0.99),
    statuses,
    errors,
    doublesTold: tickets.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
  }
}
