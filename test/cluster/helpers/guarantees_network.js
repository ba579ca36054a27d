'use strict'
// Faults of a network, and failovers, with each server and each process in a node of its own (network.js).
const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const { etcdCluster, etcdServer } = require('./etcd_server.js')
const { observe } = require('./guarantees.js')
const { network } = require('./network.js')
const { postgresPair } = require('./postgres_pair.js')
const { redisPair } = require('./redis_pair.js')

const run = promisify(execFile)

/** Longer than a failover takes, on a busy machine too. */
const failoverTtl = 6000

const cutBoth = (net, one, other) => Promise.all([net.cut(one, other), net.cut(other, one)])

/**
 * The bodies of the cells with a server and its replica. The processes find the server at one address, which an operator
 * leads to the replica. `makePair(nodes, { isSync })` resolves to { first, second, close() }; `second` has promote() and
 * hasAll(), which resolves when it has what `first` has now.
 */
function bodiesOfPair(makePair) {
  async function begin(world, { isSync, ttl } = {}) {
    const net = world.keep(await network(4))
    const [one, other, a, b] = net.nodes
    await Promise.all([net.serve(one), net.serve(other), net.lead(a, one), net.lead(b, one)])
    const pair = world.keep(await makePair([one, other], { isSync }))
    const place = `${net.service}:${pair.first.port}`
    const both = await world.processes([place], { nodes: [a, b], ttl })
    await pair.hasAll()
    return { net, one, other, a, b, pair, both }
  }

  async function failOver({ net, other, a, b, pair }) {
    await pair.first.stop()
    await pair.second.promote()
    await Promise.all([net.lead(a, other), net.lead(b, other)])
  }

  return {
    async 'failover to an asynchronous replica'(world) {
      const all = await begin(world, { ttl: failoverTtl })
      // The replica never hears of the lock.
      await cutBoth(all.net, all.one, all.other)
      return observe({ ...all.both, ttl: failoverTtl, fault: () => failOver(all) })
    },
    async 'failover to a synchronous replica'(world) {
      const all = await begin(world, { ttl: failoverTtl, isSync: true })
      return observe({ ...all.both, ttl: failoverTtl, fault: () => failOver(all) })
    },
    async 'packets to the server lost'(world) {
      const { net, one, a, both } = await begin(world)
      return observe({ ...both, fault: () => net.cut(a, one) })
    },
    async 'packets from the server lost'(world) {
      const { net, one, a, both } = await begin(world)
      return observe({ ...both, fault: () => net.cut(one, a) })
    },
    async 'split network, holder in the minority'(world) {
      const { net, one, other, a, b, pair, both } = await begin(world)
      const fault = async () => {
        await Promise.all([cutBoth(net, one, other), cutBoth(net, one, b), cutBoth(net, a, other)])
        await pair.second.promote()
        await net.lead(b, other)
      }
      const end = async () => {
        await Promise.all([net.mend(a, other), net.mend(other, a)])
        await pair.first.stop()
        await net.lead(a, other)
      }
      return observe({ ...both, fault, end, ending: 'when the split ends' })
    },
    async 'split network, holder in the majority'(world) {
      const { net, one, other, a, b, pair, both } = await begin(world)
      const fault = async () => {
        await pair.hasAll()
        await Promise.all([cutBoth(net, one, other), cutBoth(net, one, a), cutBoth(net, b, other)])
        await pair.second.promote()
        await net.lead(a, other)
      }
      return observe({ ...both, fault })
    },
  }
}

/** Whether this member leads, by what it tells its own node. */
async function leads({ port }, { address, within: [first, ...rest] }) {
  const code = `fetch('http://${address}:${port}/metrics').then(async (answer) => console.log(await answer.text()))`
  const { stdout } = await run(first, [...rest, process.execPath, '-e', code])
  return stdout.includes('\netcd_server_is_leader 1\n')
}

/** The bodies of the cells with three servers, of which all have each grant that a majority has. */
function bodiesOfCluster() {
  async function begin(world, { ttl } = {}) {
    const net = world.keep(await network(5))
    const [, , , a, b] = net.nodes
    const servers = net.nodes.slice(0, 3)
    const { members } = world.keep(await etcdCluster({ nodes: servers }))
    const places = members.map(({ port }, i) => `${servers[i].address}:${port}`)
    const both = await world.processes([places], { nodes: [a, b], ttl })
    const isLeader = await Promise.all(members.map((member, i) => leads(member, servers[i])))
    const i = isLeader.indexOf(true)
    const others = servers.filter((server) => server !== servers[i])
    return { net, a, b, both, leader: members[i], one: servers[i], others }
  }

  async function single(world, cut) {
    const net = world.keep(await network(3))
    const [one, a, b] = net.nodes
    const { port } = world.keep(await etcdServer({ nodes: [one] }))
    const both = await world.processes([`${one.address}:${port}`], { nodes: [a, b] })
    return observe({ ...both, fault: () => cut(net, one, a) })
  }

  /** The leader and `isolated` on one side, all others on the other. */
  const split = ({ net, one, others }, isolated, rest) =>
    Promise.all([
      ...[...others, rest].map((node) => cutBoth(net, one, node)),
      ...others.map((node) => cutBoth(net, isolated, node)),
    ])

  return {
    async 'failover to a synchronous replica'(world) {
      const { both, leader } = await begin(world, { ttl: failoverTtl })
      return observe({ ...both, ttl: failoverTtl, fault: () => leader.stop() })
    },
    'packets to the server lost': (world) => single(world, (net, one, a) => net.cut(a, one)),
    'packets from the server lost': (world) => single(world, (net, one, a) => net.cut(one, a)),
    async 'split network, holder in the minority'(world) {
      const all = await begin(world)
      return observe({ ...all.both, fault: () => split(all, all.a, all.b) })
    },
    async 'split network, holder in the majority'(world) {
      const all = await begin(world, { ttl: failoverTtl })
      const end = () =>
        Promise.all(
          all.others.map((node) => all.net.mend(all.b, node).then(() => all.net.mend(node, all.b))),
        )
      return observe({ ...all.both, ttl: failoverTtl, fault: () => split(all, all.b, all.a), end })
    },
  }
}

const { 'failover to a synchronous replica': none, ...ofRedis } = bodiesOfPair(redisPair)

/** By engine. Redis replicates asynchronously only, and etcd synchronously only. */
const bodies = { Redis: ofRedis, PostgreSQL: bodiesOfPair(postgresPair), etcd: bodiesOfCluster() }

module.exports = { bodies }
