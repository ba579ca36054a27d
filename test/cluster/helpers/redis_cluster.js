'use strict'
// A Redis Cluster started by the tests, on loopback.
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { Cluster, Redis } = require('ioredis')
const { createCluster } = require('redis')
const { glideClusterClient } = require('./glide.js')
const { freePort, redisServer } = require('./servers.js')

const slots = 16_384

/** A server that may join a cluster. `bus` is the port for other servers. */
async function clusterNode(...options) {
  const bus = await freePort()
  const own = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']
  const node = await redisServer(...own, '--cluster-port', bus, ...options)
  node.bus = bus
  node.ask = async (...words) => {
    const client = new Redis(node.port, '127.0.0.1')
    try {
      return await client.call(...words)
    } finally {
      client.disconnect()
    }
  }
  return node
}

async function until(isSo) {
  while (!(await isSo())) await sleep(50)
}

const isWell = async (node, count) => {
  const info = await node.ask('CLUSTER', 'INFO')
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${count}`)
}

/** A cluster of one server with all slots, to test that a slot has its own channel. */
async function clusterOfOne(...options) {
  const node = await clusterNode(...options)
  await node.ask('CLUSTER', 'ADDSLOTSRANGE', '0', `${slots - 1}`)
  await until(() => isWell(node, 1))
  return node
}

/** { from, to, begin(key) }: `from` has all slots, and begins to move the one of `key` to `to`, which has none yet. */
async function withNewServer() {
  const [from, to] = await Promise.all([clusterOfOne(), clusterNode()])
  await from.ask('CLUSTER', 'MEET', '127.0.0.1', `${to.port}`, `${to.bus}`)
  const [source, target] = await Promise.all([from, to].map((node) => node.ask('CLUSTER', 'MYID')))
  await until(async () => (await to.ask('CLUSTER', 'NODES')).includes(source))
  async function begin(key) {
    const slot = await from.ask('CLUSTER', 'KEYSLOT', key)
    await to.ask('CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', source)
    await from.ask('CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', target)
  }
  return { from, to, begin }
}

/**
 * Three masters and a replica of the first one: { nodes, slotOf(key), ownerOf(slot), move(slot,
 * from, to), takeOver(), close() }.
 */
async function redisCluster() {
  const nodes = await Promise.all(
    Array.from({ length: 4 }, () => clusterNode('--cluster-node-timeout', 1000)),
  )
  const [first, , , replica] = nodes
  for (const [i, node] of nodes.entries()) {
    await node.ask('CLUSTER', 'SET-CONFIG-EPOCH', `${i + 1}`)
    node.id = await node.ask('CLUSTER', 'MYID')
    if (node !== first)
      await first.ask('CLUSTER', 'MEET', '127.0.0.1', `${node.port}`, `${node.bus}`)
    if (node === replica) continue
    const [from, to] = [i, i + 1].map((n) => Math.floor((n * slots) / 3))
    await node.ask('CLUSTER', 'ADDSLOTSRANGE', `${from}`, `${to - 1}`)
  }
  for (const node of nodes) await until(() => isWell(node, 4))
  await replica.ask('CLUSTER', 'REPLICATE', first.id)
  await until(async () => (await replica.ask('INFO', 'replication')).includes('link_status:up'))
  return {
    nodes,
    slotOf: (key) => first.ask('CLUSTER', 'KEYSLOT', key),
    ownerOf: (slot) => nodes[Math.floor(((slot + 1) * 3 - 1) / slots)],
    /** Moves the slot with all of its keys. */
    async move(slot, from, to) {
      await to.ask('CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', from.id)
      await from.ask('CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', to.id)
      const keys = await from.ask('CLUSTER', 'GETKEYSINSLOT', `${slot}`, '1000')
      const target = ['127.0.0.1', `${to.port}`, '', '0', '5000']
      if (keys.length > 0) await from.ask('MIGRATE', ...target, 'KEYS', ...keys)
      for (const node of [to, from]) await node.ask('CLUSTER', 'SETSLOT', `${slot}`, 'NODE', to.id)
    },
    /** The replica takes over, because its master has died. */
    async takeOver() {
      await first.stop()
      await until(async () => (await replica.ask('ROLE'))[0] === 'master')
      await until(async () => (await isWell(nodes[1], 4)) && (await isWell(replica, 4)))
    },
    close: () => Promise.all(nodes.map((node) => node.close())),
  }
}

/** By package: makes a client of a cluster. Resolves when it is connected. */
const clusterClients = {
  redis: async (port) => {
    const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })
    client.on('error', () => {}) // expected: a server is away
    await client.connect()
    return client
  },
  ioredis: async (port) => {
    const client = new Cluster([{ host: '127.0.0.1', port }], { keyPrefix: 'app:' })
    client.on('error', () => {})
    await once(client, 'ready')
    return client
  },
  'valkey-glide': (port) => glideClusterClient(port),
}

module.exports = { clusterClients, clusterOfOne, redisCluster, withNewServer }
