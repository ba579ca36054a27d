'use strict'
// The connection that listens to a Redis Cluster, when it ends.
const assert = require('node:assert/strict')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { clusterClients } = require('./helpers/redis_access.js')
const { clusterOfOne } = require('./helpers/redis_cluster.js')

describe('The connection that listens to a Redis Cluster', function () {
  this.timeout(60_000)
  this.slow(10_000)
  const ends = useEnds()

  /** The number of connections of clients to `node`, without the one that asks. */
  async function connections(node) {
    const list = await node.ask('CLIENT', 'LIST')
    return list.split('\n').filter(Boolean).length - 1
  }

  for (const name of ['redis', 'ioredis']) {
    it(`leaves none behind when it ends while it connects, by ${name}`, async () => {
      const node = await clusterOfOne()
      ends.push(() => node.close())
      const { client, close } = await clusterClients[name]({ port: node.port })
      ends.push(close)
      const before = await connections(node)
      await node.pause()
      const late = redis(client, { answerTimeout: 300 })
      await assert.rejects(late.ready({ timeout: 2000 }), { code: 'ERR_LOCK_ENGINE' })
      await late.close()
      node.resume()
      // By then the one before has connected, if it went on.
      const next = redis(client, { answerTimeout: 30_000 })
      await next.ready()
      await next.close()
      while ((await connections(node)) !== before);
    })
  }
})
