'use strict'
// A network of Linux network namespaces on one bridge, whose paths can be cut in one direction. Needs root.
const { spawn } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const { text } = require('node:stream/consumers')

/** The address that leads a node to the server of its choice: see lead(). */
const service = '10.0.0.100'
const macOf = (i) => `02:00:00:00:00:0${i}`
/** No node has this address, so what is sent to it is lost. */
const nowhere = '02:00:00:00:00:ff'

/** Runs these commands of iproute2, in the namespace `within` if there is one. */
async function ip(commands, within) {
  const child = spawn('ip', [...(within ? ['-n', within] : []), '-batch', '-'])
  child.stdin.end(`${commands.join('\n')}\n`)
  const said = text(child.stderr)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`ip: ${await said} (of Debian's package iproute2, as root)`)
}

/**
 * Makes up to nine nodes: { nodes, service, cut(from, to), mend(), lead(client, server), close() }. A node is
 * { address, within }: a program preceded by the words `within` runs there.
 */
async function network(count) {
  const prefix = `boxoffice-${randomBytes(4).toString('hex')}`
  const hub = `${prefix}-0`
  const nodes = Array.from({ length: count }, (_, n) => {
    const name = `${prefix}-${n + 1}`
    const address = `10.0.0.${n + 1}`
    return { name, address, mac: macOf(n + 1), within: ['ip', 'netns', 'exec', name] }
  })
  const neighbour = (address, mac) =>
    `neigh replace ${address} lladdr ${mac} dev eth0 nud permanent`
  const path = (from, to, mac) => {
    const addresses = from.leads === to ? [to.address, service] : [to.address]
    return ip(
      addresses.map((address) => neighbour(address, mac)),
      from.name,
    )
  }

  await ip([hub, ...nodes.map(({ name }) => name)].map((name) => `netns add ${name}`))
  await ip(['link add bridge type bridge', 'link set bridge up'], hub)
  for (const [i, { name, address, mac }] of nodes.entries()) {
    await ip(
      [
        `link add port${i} type veth peer name eth0 netns ${name} address ${mac}`,
        `link set port${i} master bridge up`,
      ],
      hub,
    )
    const others = nodes.filter((node) => node.address !== address)
    await ip(
      [
        'link set lo up',
        `address add ${address}/24 dev eth0`,
        'link set eth0 up',
        ...others.map((node) => neighbour(node.address, node.mac)),
      ],
      name,
    )
  }

  return {
    nodes,
    service,
    /** From now on all packets from one node to another are lost. */
    cut: (from, to) => path(from, to, nowhere),
    mend: (from, to) => path(from, to, to.mac),
    /** From now on the node `server` takes packets to the service address, too. */
    serve: (server) => ip([`address add ${service}/32 dev eth0`], server.name),
    /** From now on `client` finds `server` at the service address. */
    async lead(client, server) {
      client.leads = server
      await ip([neighbour(service, server.mac)], client.name)
    },
    /** The programs in them must have ended. */
    close: () => ip([...nodes.map(({ name }) => `netns del ${name}`), `netns del ${hub}`]),
  }
}

module.exports = { network }
