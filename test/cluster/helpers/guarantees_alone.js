'use strict'
// Faults of one server, or of the processes that use it.
const { stop } = require('../../helpers/processes.js')
const { serverClock } = require('./server_clock.js')
const { cells, observe, timeOver, usualTtl } = require('./guarantees.js')
const { proxy } = require('./servers.js')

/** Longer than a restart takes, on a busy machine too. */
const longTtl = 6000
/** Longer than the start of an empty server and of a process, on a busy machine too. */
const lossTtl = 30_000

/**
 * The bodies of the cells, by fault. `kit` starts a server with `start({ env })`: { port, stop(), start(), close() }. It
 * ends a server in order with `end(server)`, and deletes the data of a stopped server with `empty(server)`.
 */
const aloneWith = (kit) => {
  async function restarted(world, end) {
    const server = world.keep(await kit.start({}))
    const both = await world.processes([server.port], { ttl: longTtl })
    const fault = async () => {
      await end(server)
      await server.start()
    }
    return observe({ ...both, ttl: longTtl, fault })
  }

  async function emptied(world) {
    const server = world.keep(await kit.start({}))
    // Its renewal reaches the server after the rival has the key, however long the server and the rival take to start.
    const way = world.keep(await proxy(server.port))
    const holder = await world.process(way.port, { ttl: lossTtl })
    // It remembers nothing of the time before.
    const rival = () => world.process(server.port, { ttl: lossTtl })
    const fault = async () => {
      way.stall()
      await server.stop()
      await kit.empty(server)
      await server.start()
    }
    return observe({ holder, rival, fault, ttl: lossTtl, silence: 0, end: async () => way.flow() })
  }

  async function jumped(world, seconds) {
    const clock = world.keep(await serverClock())
    const server = world.keep(await kit.start({ env: clock.env }))
    const both = await world.processes([server.port], { ttl: longTtl })
    const fault = async () => {
      // So the next renewal, by which the holder may hear of the fault, comes later than the rival.
      await both.holder.ask('renewed')
      await clock.set(seconds)
    }
    return observe({ ...both, ttl: longTtl, fault })
  }

  async function troubled(world, fault, rest) {
    const server = world.keep(await kit.start({}))
    const both = await world.processes([server.port])
    return observe({ ...both, fault: () => fault(both), ...rest?.(both) })
  }

  return {
    'server stopped, and started again': (world) => restarted(world, kit.end),
    'server killed, and started again': (world) => restarted(world, (server) => server.stop()),
    'server started again without its disk': emptied,
    "server's clock set an hour forward": (world) => jumped(world, 3600),
    "server's clock set half an hour back": (world) => jumped(world, -1800),
    'holder stopped for longer than `ttl`': (world) =>
      troubled(
        world,
        ({ holder }) => stop(holder.child.pid),
        ({ holder }) => ({
          silence: 0,
          end: () => holder.child.kill('SIGCONT'),
          ending: 'when it goes on',
        }),
      ),
    "holder's event loop blocked": (world) =>
      troubled(world, async ({ holder }) => {
        holder.ask('block', { time: timeOver(usualTtl) })
      }),
    async "holder's connections stalled"(world) {
      const server = world.keep(await kit.start({}))
      const way = world.keep(await proxy(server.port))
      const both = await world.processes([way.port, server.port])
      return observe({ ...both, fault: async () => way.stall() })
    },
  }
}

/** Their tests. */
const alone = (engine, connector, kit) => cells(engine, connector, aloneWith(kit))

const aloneFaults = Object.keys(aloneWith({}))

module.exports = { alone, aloneFaults }
