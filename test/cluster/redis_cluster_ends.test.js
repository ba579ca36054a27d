'use strict'
// The connections to a Redis Cluster, when they end.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const { Mutex } = require('../..')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { clusterClients, host } = require('./helpers/redis_access.js')
const { clusterOfOne, withNewServer } = require('./helpers/redis_cluster.js')

/**
 * A proxy whose connections stay half open: once a listener has ended its side, it gets another confirmation of a
 * subscription. { port, lead(port), ended, close() }: `ended` resolves when a listener's connection is closed.
 */
async function talkative() {
  const sockets = new Set()
  let target
  let onEnded
  const ended = new Promise((resolve) => {
    onEnded = resolve
  })
  const server = net.createServer({ allowHalfOpen: true }, (near) => {
    const far = net.connect(target, host)
    let isListener = false
    near.on('data', (chunk) => {
      isListener ||= /ssubscribe/i.test(chunk)
      far.write(chunk)
    })
    far.on('data', (chunk) => near.write(chunk))
    near.on('end', () => {
      if (isListener) near.write('*3\r\n$10\r\nssubscribe\r\n$1\r\na\r\n:1\r\n')
      near.end()
    })
    near.on('close', () => {
      far.destroy()
      if (isListener) onEnded()
    })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}) // the other side is closed, too
    }
  })
  await new Promise((resolve) => server.listen(0, host, resolve))
  const close = () => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  }
  const lead = (port) => {
    target = port
  }
  return { port: server.address().port, lead, ended, close }
}

describe('A connection to a Redis Cluster', function () {
  this.timeout(60_000)
  this.slow(10_000)
  const ends = useEnds()

  /** The number of connections of clients to `node`, without the one that asks. */
  async function connections(node) {
    const list = await node.ask('CLIENT', 'LIST')
    return list.split('\n').filter(Boolean).length - 1
  }

  for (const name of ['redis', 'ioredis']) {
    it(`leaves no other behind when it ends while it is made, by ${name}`, async () => {
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

  it('reads no more once it has ended, by ioredis', async () => {
    const front = await talkative()
    ends.push(() => front.close())
    const node = await clusterOfOne('--cluster-announce-port', front.port)
    ends.push(() => node.close())
    front.lead(node.port)
    const { client, close } = await clusterClients.ioredis({ port: front.port })
    ends.push(close)
    const engine = redis(client, { answerTimeout: 30_000 })
    await new Mutex({ engine, name: 'one' }).runExclusive(() => {})
    await engine.close()
    await front.ended
  })

  it('leaves no rejection unhandled when it ends while a slot moves, by ioredis', async () => {
    const { from, to, begin } = await withNewServer()
    ends.push(() => Promise.all([from.close(), to.close()]))
    const { client, close } = await clusterClients.ioredis({ port: from.port })
    ends.push(close)
    redis(client)
    const unhandled = []
    const note = (error) => unhandled.push(error)
    process.on('unhandledRejection', note)
    ends.push(() => process.off('unhandledRejection', note))
    // It accepts connections, and does not answer.
    await begin('key')
    await to.pause()
    const answer = assert.rejects(client.get('key'))
    await once(client, '+node')
    // The server that is new has no slots yet: the client gives it up.
    const gone = once(client, '-node')
    client.refreshSlotsCache()
    await gone
    await new Promise(setImmediate)
    to.resume()
    client.disconnect()
    await answer
    assert.deepEqual(unhandled, [])
  })
})
