#!/usr/bin/env node
'use strict'
const { parseArgs } = require('node:util')
const { measure } = require('./bench.js')
const { blockedFor, measureBlockLoop } = require('./block_loop.js')
const { measureCrashes } = require('./crashes.js')
const strategies = require('./locks')
const { checkServer, engines } = require('./locks/engines.js')
const acrossProcesses = require('./locks/processes.js')
const createServer = require('./server.js')
const { crashColumns, table } = require('./table.js')

const usage = `Usage:
  node main.js [--users N] [--clicks N] [--tickets N] [--connections N]
      Sells tickets without and with locks, and prints a table.
      By default every other user clicks twice, the others three times.
  node main.js --processes N [--users N] [--clicks N] [--connections N] [--kill MS]
      The shop as N processes, of which one is killed every MS milliseconds (200), with a lock of each
      process and with one of all.
  node main.js --engine redis|postgres [--processes N] [--users N] [--clicks N] [--connections N] [--kill MS]
      The same with one lock for all machines. Nobody is killed unless --kill says so.
  node main.js --engine redis|postgres --block-loop
      What becomes of that lock while the event loop of its holder stands still, beside redlock's.
  node main.js --serve [--port N] [--lock none|map|boxoffice] [--tickets N] [--pause MS]
      Serves the page. A purchase takes MS milliseconds beside the database.
DATABASE_URL=postgres://... uses PostgreSQL instead of the embedded SQLite. REDIS_URL=redis://... says where
Redis is.`

class UsageError extends Error {}

function readOptions(args) {
  const text = { type: 'string' }
  let values
  try {
    ;({ values } = parseArgs({
      args,
      options: {
        ...{ users: text, clicks: text, tickets: text, connections: text },
        ...{ serve: { type: 'boolean' }, port: text, lock: text, pause: text },
        ...{ processes: text, kill: text, engine: text, 'block-loop': { type: 'boolean' } },
        help: { type: 'boolean', short: 'h' },
      },
    }))
  } catch (error) {
    throw new UsageError(error.message)
  }

  const number = (name, fallback, least, most) => {
    const value = values[name] ?? fallback
    if (value === undefined) return undefined
    if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most) {
      throw new UsageError(`--${name} must be a whole number from ${least} to ${most}.`)
    }
    return Number(value)
  }
  const lock = values.lock ?? 'boxoffice'
  if (!Object.hasOwn(strategies, lock)) {
    throw new UsageError(`--lock must be one of ${Object.keys(strategies).join(', ')}.`)
  }
  const { engine } = values
  if (engine !== undefined && !Object.hasOwn(engines, engine)) {
    throw new UsageError(`--engine must be one of ${Object.keys(engines).join(', ')}.`)
  }
  if (values['block-loop'] && engine === undefined) {
    throw new UsageError('--block-loop needs an --engine.')
  }
  // About 15 s in all. A PostgreSQL is a few times slower than a database in the same process.
  const most = process.env.DATABASE_URL ? 4_000 : 12_000
  const users = number('users', values.processes || engine ? 1_000 : most, 1, 1_000_000)
  return {
    help: values.help,
    serve: values.serve,
    users,
    clicks: number('clicks', undefined, 1, 100),
    // Fewer than users, so that the last ones meet "sold out".
    tickets: number('tickets', values.serve ? 100 : Math.ceil(users * 0.9), 0, 1_000_000),
    connections: number('connections', 100, 2, 10_000),
    port: number('port', 3000, 0, 65_535),
    pause: number('pause', 400, 0, 60_000),
    lock,
    processes: number('processes', engine && 4, 2, 100),
    killEvery: number('kill', engine ? undefined : 200, 1, 60_000),
    engine,
    blockLoop: values['block-loop'],
  }
}

async function serve({ lock, tickets, pause, port }) {
  const app = await createServer({ lock, tickets, pause, databaseUrl: process.env.DATABASE_URL })
  const url = await app.listen({ port, host: '127.0.0.1' }).catch(async (error) => {
    await app.close()
    throw error
  })

  const stop = () => {
    app.close().catch((error) => {
      console.error(error)
      process.exitCode = 1
    })
  }
  if (process.send) {
    process.once('disconnect', stop) // the one who started this shop is done with it, or gone
    process.send({ url })
  } else {
    console.log(`The shop is open at ${url} (${strategies[lock].title}). Ctrl-C closes it.`)
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

async function bench({ users, clicks, tickets, connections }) {
  const number = new Intl.NumberFormat('en-US')
  const many = clicks ? `${clicks} clicks each` : 'double and triple clicks'
  const database = process.env.DATABASE_URL ? 'PostgreSQL' : 'SQLite'
  console.log(
    `${number.format(users)} users, ${many}, for ${number.format(tickets)} free tickets, ` +
      `one for each user. ${connections} connections, ${database}.\n`,
  )
  const rows = []
  for (const name of Object.keys(strategies)) {
    const { title } = strategies[name]
    console.log(`${title} ...`)
    const onProgress = ({ done, total }) =>
      console.log(`  ${number.format(done)} of ${number.format(total)} requests`)
    rows.push(await measure(name, { users, clicks, tickets, connections, onProgress }))
  }
  console.log(`\n${table(rows)}\n`)

  for (const row of rows) {
    for (const problem of row.problems) {
      console.error(`FAILED, ${row.title}: ${problem}.`)
      process.exitCode = 1
    }
  }
  if (rows[0].doubles === 0) console.log('No double ticket, even without a lock: try more --users.')
  console.log('To click for yourself, without and with locks:')
  console.log('  node examples/ticket-shop/main.js --serve --lock none')
  console.log('  node examples/ticket-shop/main.js --serve')
}

async function crash({ users, clicks, connections, processes, killEvery, engine }) {
  const killed = killEvery ? `, of which one is killed every ${killEvery} ms` : ''
  console.log(
    `${processes} processes${killed}. ${users} users, and a ticket for each who clicks.\n`,
  )
  const rows = []
  for (const lock of ['each', engine ?? 'host']) {
    console.log(`${acrossProcesses[lock].title} ...`)
    const { DATABASE_URL: databaseUrl } = process.env
    rows.push(
      await measureCrashes({
        ...{ lock, users, clicks, connections, processes, killEvery, databaseUrl },
      }),
    )
  }
  console.log(`\n${table(rows, crashColumns)}\n`)
  for (const row of rows) {
    for (const problem of row.problems) {
      console.error(`FAILED, ${row.title}: ${problem}.`)
      process.exitCode = 1
    }
  }
}

async function block({ engine }) {
  console.log(
    `A lease of 1 s, and an event loop that stands still for ${blockedFor} ms while it holds:\n`,
  )
  for (const lock of engine === 'redis' ? ['redlock', 'redis'] : [engine]) {
    const { title, tickets, doubles } = await measureBlockLoop(lock, process.env.DATABASE_URL)
    console.log(`${title}: ${tickets === 1 ? '1 ticket' : `${tickets} tickets`} for one user`)
    if (lock === engine && doubles > 0) process.exitCode = 1
  }
}

async function main() {
  const options = readOptions(process.argv.slice(2))
  if (options.engine && !options.help) await checkServer(options.engine)
  if (options.help) console.log(usage)
  else if (options.blockLoop) await block(options)
  else if (options.processes) await crash(options)
  else if (options.serve) await serve(options)
  else await bench(options)
}

main().catch((error) => {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`)
  else console.error(['EADDRINUSE', 'NO_SERVER'].includes(error.code) ? error.message : error)
  process.exitCode = 1
})
