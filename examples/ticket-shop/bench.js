'use strict'
const startChild = require('./child.js')
const fireClicks = require('./load.js')
const strategies = require('./locks')

/** One row of the table: a fresh shop, all the clicks, and what the database then holds. */
async function measure(name, { users, clicks, tickets, connections, onProgress }) {
  const shop = await startChild({ lock: name, tickets })
  try {
    const load = await fireClicks({ url: shop.url, users, clicks, connections, onProgress })
    const row = { ...strategies[name], users, ...load, ...(await shop.summary()) }
    return { ...row, problems: problemsOf(row) }
  } finally {
    await shop.close()
  }
}

/** What must never be, of any run and of one with locks. */
function problemsOf(row) {
  const problems = []
  const expect = (condition, problem) => {
    if (!condition) problems.push(problem)
  }
  const unexpected = Object.keys(row.statuses).filter(
    (code) => !['200', '201', '409'].includes(code),
  )
  expect(row.errors.length === 0, `${row.errors.length} requests failed: ${row.errors[0]}`)
  expect(unexpected.length === 0, `the shop answered with status ${unexpected.join(', ')}`)
  expect(row.sold <= row.tickets, `${row.sold - row.tickets} tickets too many were sold`)
  expect(row.sold + row.remaining === row.tickets, 'tickets sold and left do not add up')
  // What the users were told, against what the database says.
  expect(row.sold === (row.statuses[201] ?? 0), 'the answers and the database disagree')
  expect(row.doubles === row.doublesTold, 'the answers and the database disagree on double tickets')
  if (row.locks) {
    expect(row.doubles === 0, `${row.doubles} double tickets were sold under a lock`)
    expect(row.sold === Math.min(row.users, row.tickets), 'a user went without, with tickets left')
  }
  return problems
}

module.exports = { measure, problemsOf }
