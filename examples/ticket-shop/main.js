#!/usr/bin/env node
'use strict'
const { parseArgs } = require('node:util')
const { blockedFor, measureBlockLoop } = require('./block_loop.js')
const closing = require('./closing.js')
const { checkServer, engines } = require('./locks/engines.js')
const { measure } = require('./measure.js')
const createServer = require('./server.js')
const table = require('./table.js')

const usage = `Usage:
  node main.js [--users N] [--clicks N] [--tickets N] [--connections N] [--processes N]
      Sells tickets in one process and in N (4), with and without locks, and prints a table. One of the
      N is killed while it holds a lock. By default every other user clicks twice, the others three times.
  node main.js --engine redis|postgres ...
      The same, with a lock for all machines in place of one for the processes of this one.
  node main.js --engine redis|postgres --block-loop
      What becomes of that lock while the event loop of its holder stands still, beside redlock's.
  node main.js --serve [--port N] [--lock none|map|boxoffice|host] [--tickets N] [--pause MS]
      Serves the page, at port 3000. A purchase takes MS milliseconds (400) beside the database.
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
        ...{ users: text, clicks: text, tickets: text, connections: text, processes: text },
        ...{ serve: { type: 'boolean' }, port: text, lock: text, pause: text },
        ...{ engine: text, 'block-loop': { type: 'boolean' } },
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
  const oneOf = (name, allowed, fallback) => {
    const value = values[name] ?? fallback
    if (value !== undefined && !allowed.includes(value)) {
      throw new UsageError(`--${name} must be one of ${allowed.join(', ')}.`)
    }
    return value
  }
  const { help, serve, 'block-loop': blockLoop } = values
  const engine = oneOf('engine', Object.keys(engines))
  if (blockLoop && engine === undefined) throw new UsageError('--block-loop needs an --engine.')
  const users = number('users', 1_000, 2, 1_000_000)
  return {
    ...{ help, serve, blockLoop, engine, users },
    lock: oneOf('lock', createServer.locks, 'boxoffice'),
    clicks: number('clicks', undefined, 2, 100),
    tickets: number('tickets', serve ? 500 : 2 * users, 0, 1_000_000),
    connections: number('connections', 100, 2, 10_000),
    processes: number('processes', 4, 2, 100),
    port: number('port', 3000, 0, 65_535),
    pause: number('pause', serve ? 400 : 20, 0, 60_000),
  }
}

async function serve({ lock, tickets, pause, port }) {
  const app = await createServer({ lock, tickets, pause, databaseUrl: process.env.DATABASE_URL })
  const url = await app.listen({ port, host: '127.0.0.1' }).catch(async (error) => {
    await app.close()
    if (error.code !== 'EADDRINUSE') throw error
    const another = port < 65_535 ? port + 1 : 0
    throw new Error(
      `Port ${port} is taken by another program. Choose another one: npm start -- --serve --port ${another}`,
      { cause: error },
    )
  })
  console.log(`The shop is open at ${url}. Ctrl-C closes it.`)
  const stop = () => {
    app.close().catch((error) => {
      console.error(error)
      process.exitCode = 1
    })
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

async function sell({ processes, engine, users, clicks, tickets, connections, pause }) {
  const { DATABASE_URL: databaseUrl } = process.env
  const rows = []
  const row = async (options) => {
    const size = { users, clicks, tickets, connections, pause }
    rows.push(await measure({ ...size, ...options, databaseUrl }))
  }
  console.log(
    `${users} users click ${clicks ?? '2 or 3'} times each, and each user may have one free ticket. In the last ` +
      'row a process is killed with SIGKILL while it holds a lock.\n',
  )
  for (const lock of ['none', 'map', 'boxoffice']) await row({ lock, processes: 1 })
  await row({ lock: 'map', processes })
  if (engine || process.platform === 'linux') {
    await row({ lock: engine ?? 'host', processes, kills: 1 })
  } else console.log("There is no row for scope 'host', which needs Linux.\n")

  console.log(`${table(rows)}\n`)
  for (const { title, processes: count, problems } of rows) {
    for (const problem of problems) {
      console.error(`FAILED, ${title} in ${count} processes: ${problem}.`)
      process.exitCode = 1
    }
  }
  if (process.exitCode !== 1) console.log(`${closing(rows)}\n`)
  console.log('You can click for yourself on the page of: npm start -- --serve')
}

async function block({ engine }) {
  console.log(
    `A lease lasts 1 s. The event loop of its holder stands still for ${blockedFor} ms:\n`,
  )
  for (const lock of engine === 'redis' ? ['redlock', 'redis'] : [engine]) {
    const { title, tickets, doubles } = await measureBlockLoop(lock, process.env.DATABASE_URL)
    console.log(`${title}: one user has ${tickets === 1 ? '1 ticket' : `${tickets} tickets`}.`)
    if (lock === engine && doubles > 0) process.exitCode = 1
  }
}

async function main() {
  const options = readOptions(process.argv.slice(2))
  if (options.engine && !options.help) await checkServer(options.engine)
  if (options.help) console.log(usage)
  else if (options.blockLoop) await block(options)
  else if (options.serve) await serve(options)
  else await sell(options)
}

main().catch((error) => {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`)
  else {
    const isKnown = error.code === 'NO_SERVER' || error.cause?.code === 'EADDRINUSE'
    console.error(isKnown ? error.message : error)
  }
  process.exitCode = 1
})
