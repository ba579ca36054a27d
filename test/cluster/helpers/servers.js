'use strict'
// Servers that tests start on loopback, and faults of the connection to them.
const { spawn } = require('node:child_process')
const { randomInt } = require('node:crypto')
const { mkdtempSync, rmSync } = require('node:fs')
const net = require('node:net')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { stop } = require('../../helpers/processes.js')

/** The address of a server: `place` is a port of loopback, or 'host:port'. */
function addressOf(place) {
  const [port, host = '127.0.0.1'] = String(place).split(':').reverse()
  return { host, port: Number(port) }
}

/** Whether a server could listen at `port` of loopback now. */
function isFree(port) {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once('error', (error) => {
      if (error.code === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/**
 * Below the range from which Linux takes ports of outgoing connections (32768 and up): there another connection
 * could take the port before the server does, or `listening` could connect to itself.
 */
async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 32_000)
    if (await isFree(port)) return port
  }
}

/** Resolves when a server listens at `place`, a port or the path of a socket, or the caller has stopped waiting. */
async function listening(place, signal) {
  const where = typeof place === 'string' ? { path: place } : { port: place, host: '127.0.0.1' }
  while (!signal.aborted) {
    const isThere = await new Promise((resolve) => {
      const socket = net.connect(where)
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isThere) return
    await sleep(20)
  }
}

/**
 * Starts `program`, and resolves to its process once it listens at `place`, if that is not null. `wanted` says how to
 * install it.
 */
async function serve(program, args, place, { wanted, ...options }) {
  const child = spawn(program, args, { ...options, stdio: 'ignore' })
  const failed = new Promise((_, reject) => {
    child.once('error', ({ message }) => {
      reject(new Error(`this test needs ${program}, of ${wanted}: ${message}`))
    })
    child.once('exit', (code) => reject(new Error(`${program} has ended with ${code}`)))
  })
  const through = new AbortController()
  try {
    await Promise.race([place === null ? null : listening(place, through.signal), failed])
  } finally {
    through.abort()
  }
  return child
}

/** An empty Redis server: { port, start(), stop(), pause(), resume(), close() }. */
const redisServer = (...options) =>
  serverOf('redis-server', "Debian's package redis-server", options)

/** The same for Valkey, whose server is at `program`. */
const valkeyServer = (program) => serverOf(program, "Debian's package valkey-server", [])

async function serverOf(program, wanted, options) {
  const directory = mkdtempSync(join(tmpdir(), 'boxoffice-redis-'))
  const port = await freePort()
  const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', directory]
  return started(program, [...args, ...options].map(String), { port, directory, wanted })
}

/**
 * That server, started, with its data in `directory`: { port, directory, start(), stop(), pause(), resume(), close() }.
 * `within` are words before the program, which it must replace by exec; `env` adds to the environment.
 */
async function started(program, args, { port, place = port, directory, wanted, within = [], env }) {
  const [first, ...rest] = [...within, program, ...args]
  let child
  const server = {
    port,
    directory,
    async start() {
      child = await serve(first, rest, place, { wanted, env: { ...process.env, ...env } })
    },
    /** As by a crash, unless `signal` is 'SIGTERM'. */
    async stop(signal = 'SIGKILL') {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill(signal)
      await ended
    },
    pause: () => stop(child.pid),
    resume: () => child.kill('SIGCONT'),
    async close() {
      await server.stop()
      rmSync(directory, { recursive: true })
    },
  }
  await server.start()
  return server
}

/**
 * A proxy to `port` that can be cut, stalled, or led to another port: { port, cut(), stall(), flow(), lead(port),
 * close() }.
 */
async function proxy(port) {
  const pairs = new Set()
  let target = port
  let isStalled = false
  const server = net.createServer((near) => {
    const far = net.connect(target, '127.0.0.1')
    const pair = [near, far]
    pairs.add(pair)
    for (const [from, to] of [pair, [far, near]]) {
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => {}) // whichever end closed, the other is closed, too
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
      if (isStalled) from.pause()
    }
  })
  const each = (call) => {
    for (const pair of pairs) for (const socket of pair) call(socket)
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: server.address().port,
    cut: () => each((socket) => socket.destroy()),
    lead(port) {
      target = port
      each((socket) => socket.destroy())
    },
    stall() {
      isStalled = true
      each((socket) => socket.pause())
    },
    flow() {
      isStalled = false
      each((socket) => socket.resume())
    },
    close() {
      each((socket) => socket.destroy())
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

module.exports = { addressOf, freePort, proxy, redisServer, serve, started, valkeyServer }
