'use strict'
const startProcesses = require('./processes.js')
const strategies = require('./locks/processes.js')
const plan = require('./plan.js')

const headers = { 'content-type': 'application/json' }
const mostTries = 100
/** Milliseconds after which people click again. */
const patience = 10_000

/** A click whose server dies is a click again, as people do it: `tries` counts them. */
async function click(url, user) {
  for (let tries = 1; ; tries++) {
    try {
      const body = JSON.stringify({ user: `user-${user}` })
      const response = await fetch(`${url}/tickets`, {
        ...{ method: 'POST', headers, body },
        signal: AbortSignal.timeout(patience),
      })
      const { ticket } = await response.json()
      return { status: response.status, ticket, tries }
    } catch (error) {
      if (tries === mostTries) throw error
    }
  }
}

/** All of them draw from one plan: `told` are the tickets that each user was told of. */
async function clickAll(url, requests, connections) {
  const told = new Map()
  const times = []
  const statuses = {}
  let drawn = 0
  let retried = 0
  async function connection() {
    while (drawn < requests.length) {
      const user = requests[drawn++]
      const before = performance.now()
      const { status, ticket, tries } = await click(url, user)
      times.push(performance.now() - before)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (tries > 1) retried++
      if (status < 300) told.set(user, (told.get(user) ?? new Set()).add(ticket))
    }
  }
  await Promise.all(Array.from({ length: Math.min(connections, requests.length) }, connection))
  times.sort((a, b) => a - b)
  return { times, told, statuses, retried }
}

/**
 * Fires the clicks of all users at a shop of several processes while one after the other is killed: a row
 * of the table. There are more tickets than users: whoever clicks gets one, and only one.
 */
async function measureCrashes(options) {
  const { lock, users, clicks, connections } = options
  const tickets = 2 * users
  const shop = await startProcesses({ ...options, tickets })
  try {
    const requests = plan(users, clicks)
    const start = performance.now()
    const { times, told, ...answers } = await clickAll(shop.url, requests, connections)
    const seconds = (performance.now() - start) / 1000
    if (shop.failure) throw shop.failure
    const row = {
      ...strategies[lock],
      ...(await shop.summary()),
      ...{ users, connections, seconds, ...answers },
      requests: requests.length,
      kills: shop.kills,
      p50: times[Math.ceil(times.length * 0.5) - 1],
      p99: times[Math.ceil(times.length * 0.99) - 1],
      torn: [...told.values()].filter((numbers) => numbers.size > 1).length,
      served: told.size,
    }
    return { ...row, problems: problemsOf(row) }
  } finally {
    await shop.close()
  }
}

/** What must never be where one lock holds all processes together. */
function problemsOf(row) {
  if (!row.locks) return []
  const problems = []
  const expect = (condition, problem) => {
    if (!condition) problems.push(problem)
  }
  const unexpected = Object.keys(row.statuses).filter((code) => !['200', '201'].includes(code))
  expect(unexpected.length === 0, `the shop answered with status ${unexpected.join(', ')}`)
  expect(row.doubles === 0, `${row.doubles} double tickets were sold under a lock`)
  expect(row.torn === 0, `${row.torn} users were told of two tickets`)
  expect(row.people === row.users && row.served === row.users, 'a user went without')
  // A ticket is counted down before it has an owner: who is killed in between loses it (shop.js).
  const lost = row.tickets - row.remaining - row.sold
  expect(lost >= 0 && lost <= row.kills * row.connections, `${lost} tickets were lost`)
  return problems
}

module.exports = { measureCrashes, problemsOf }
