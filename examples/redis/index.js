'use strict'
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { createClient } = require('redis')
const { KeyedMutex } = require('boxoffice')
const { redis } = require('boxoffice/redis')

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const [, , key] = process.argv

/** In each process, on this machine or another: reads the number and writes the next one, 50 times. */
async function count(client) {
  const engine = redis(client)
  const counters = new KeyedMutex({ engine, name: 'counters', timeout: 10_000 })
  for (let i = 0; i < 50; ++i) {
    await counters.runExclusive(key, async ({ signal }) => {
      const number = Number(await client.get(key))
      signal.throwIfAborted() // this process has lost the lock
      await client.set(key, number + 1)
    })
  }
  await engine.close()
}

async function main(client) {
  const counter = `counter-${process.pid}`
  const all = [1, 2].map(() => fork(__filename, [counter]))
  await Promise.all(all.map((one) => once(one, 'exit')))
  console.log(`2 processes counted to ${await client.getDel(counter)}`)
}

async function withClient(work) {
  const client = createClient({ url }).on('error', console.error)
  await client.connect()
  await work(client).finally(() => client.close())
}
withClient(key === undefined ? main : count)
