'use strict'
const locks = require('./locks')
const plan = require('./plan.js')
const startProcesses = require('./processes.js')

const headers = { 'content-type': 'application/json' }
const mostTries = 10
/** Milliseconds after which a user clicks again. */
const patience = 10_000

/** A user whose server dies clicks again: `tries` counts the clicks. */
async function click(shop, user, count) {
  const body = JSON.stringify({ user: `user-${user}` })
  for (let tries = 1; ; tries++) {
    try {
      const response = await fetch(`${shop.url(count + tries)}/tickets`, {
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

/**
 * Fires the clicks of all users. The connections draw from one plan, in which the clicks of a user are
 * neighbours: they go out side by side, to different processes.
 */
async function clickAll(shop, { users, clicks, connections, kills }) {
  const requests = plan(users, clicks)
  const killAt = new Set(
    Array.from({ length: kills }, (_, i) => Math.floor(((i + 1) * requests.length) / (kills + 1))),
  )
  const told = new Map() // the tickets that each user was told of
  const times = []
  const statuses = {}
  let drawn = 0
  let retried = 0

  async function connection() {
    while (drawn < requests.length) {
      if (killAt.has(drawn)) shop.killHolder()
      const count = drawn++
      const user = requests[count]
      const before = performance.now()
      const { status, ticket, tries } = await click(shop, user, count)
      times.push(performance.now() - before)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (tries > 1) retried++
      if (status < 300) told.set(user, (told.get(user) ?? new Set()).add(ticket))
    }
  }

  const start = performance.now()
  await Promise.all(Array.from({ length: Math.min(connections, requests.length) }, connection))
  const seconds = (performance.now() - start) / 1000
  times.sort((a, b) => a - b)
  const percentile = (share) => times[Math.ceil(times.length * share) - 1]
  return {
    ...{ requests: requests.length, retried, seconds, statuses },
    ...{ p50: percentile(0.5), p99: percentile(0.99) },
    served: told.size,
    doublesTold: [...told.values()].reduce((sum, { size }) => sum + size - 1, 0),
  }
}

/** A row of the table: a fresh shop, all the clicks, and what the database then holds. */
async function measure(options) {
  const { lock, processes, users, connections, kills = 0 } = options
  const shop = await startProcesses(options)
  try {
    const load = await clickAll(shop, { ...options, kills })
    if (shop.failure) throw shop.failure
    const { title, scope } = locks[lock]
    const row = {
      ...{ title, users, connections, processes, ...load, ...(await shop.summary()) },
      guarded: scope === 'all' || (scope === 'process' && processes === 1),
      kills: shop.kills,
    }
    return { ...row, problems: problemsOf({ ...row, killsWanted: kills }) }
  } finally {
    await shop.close()
  }
}

/** The faults of a row: any row, or one whose lock covers all of its processes. */
function problemsOf(row) {
  const problems = []
  const expect = (condition, problem) => {
    if (!condition) problems.push(problem)
  }
  const unexpected = Object.keys(row.statuses).filter(
    (code) => !['200', '201', '409'].includes(code),
  )
  expect(unexpected.length === 0, `the shop answered with status ${unexpected.join(', ')}`)
  expect(row.sold <= row.tickets, `${row.sold - row.tickets} tickets too many were sold`)
  expect(row.kills === row.killsWanted, `${row.kills} processes were killed`)
  // A process takes a ticket off the count before the ticket has an owner. Killed in between, it loses
  // the ticket (shop.js).
  const lost = row.tickets - row.remaining - row.sold
  expect(lost >= 0 && lost <= row.kills * row.connections, `${lost} tickets were lost`)
  if (row.kills === 0) {
    expect(row.sold === (row.statuses[201] ?? 0), 'the answers and the database disagree')
    expect(row.doubles === row.doublesTold, 'the answers and the database disagree on doubles')
  }
  if (row.guarded) {
    expect(row.doubles === 0, `${row.doubles} double tickets were sold under a lock`)
    expect(row.doublesTold === 0, `${row.doublesTold} users were told of two tickets`)
    expect(row.sold === Math.min(row.users, row.tickets - lost), 'a user went without a ticket')
  } else {
    expect(row.doubles > 0, 'no double ticket was sold without a lock over all processes')
  }
  return problems
}

module.exports = { measure, problemsOf }
