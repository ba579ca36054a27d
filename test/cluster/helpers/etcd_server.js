'use strict'
// Starts an etcd of one or three servers for the tests, on loopback or in the nodes of a network (network.js).
const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { freePort, started } = require('./servers.js')

const wanted = "Debian's package etcd-server"

/** Options of each server: no write waits for the disk, and elections take at most a second. */
const quick = ['--heartbeat-interval', '50', '--election-timeout', '500', '--unsafe-no-fsync']

/** A member: { port, start(), stop(), pause(), resume(), close() }. Its data survives a restart. */
async function memberOf(name, members, { scheme = 'http', options = [], env } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'boxoffice-etcd-'))
  const { host, port, within } = members[name]
  const url = `${scheme}://${host}:${port}`
  const peerUrlOf = (member) => `http://${member.host}:${member.peer}`
  const peerUrl = peerUrlOf(members[name])
  const all = Object.entries(members).map(([one, member]) => `${one}=${peerUrlOf(member)}`)
  const args = [
    ...['--name', name, '--data-dir', join(folder, 'data'), ...quick],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ...['--initial-cluster', all.join(','), ...options],
  ]
  // Another network cannot be asked from here whether the server listens: the clients connect until it does.
  const place = within === undefined ? port : null
  return started('etcd', args, { port, place, directory: folder, wanted, within, env })
}

/** `nodes`: of a network, one for each name. */
async function membersOf(names, { nodes = [], port, ...how } = {}) {
  const members = {}
  for (const [i, name] of names.entries()) {
    const { address: host = '127.0.0.1', within } = nodes[i] ?? {}
    members[name] = { host, within, port: port ?? (await freePort()), peer: await freePort() }
  }
  return Promise.all(names.map((name) => memberOf(name, members, how)))
}

/** `how`: its port, the scheme of its address, 'http' or 'https', more options of it, its environment, its node. */
async function etcdServer(how) {
  const [server] = await membersOf(['one'], how)
  return server
}

/** A cluster of three servers: { members, close() }. */
async function etcdCluster(how) {
  const members = await membersOf(['one', 'two', 'three'], how)
  return { members, close: () => Promise.all(members.map((member) => member.close())) }
}

module.exports = { etcdCluster, etcdServer }
