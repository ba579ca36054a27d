'use strict'
// Servers on loopback that a test starts for itself, and what can happen to the way to them.
const { spawn } = require('node:child_process')
const { mkdtempSync, rmSync } = require('node:fs')
const net = require('node:net')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Until something listens there, or nobody waits for it any more. */
async function listening(port, signal) {
  while (!signal.aborted) {
    const isThere = await new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isThere) return
    await sleep(20)
  }
}

/** The process of `program`, which `wanted` says where to get, once something listens at `port`. */
async function serve(program, args, port, { wanted, ...options }) {
  const child = spawn(program, args, { ...options, stdio: 'ignore' })
  const failed = new Promise((_, reject) => {
    child.once('error', ({ message }) => {
      reject(new Error(`this test needs ${program}, of ${wanted}: ${message}`))
    })
    child.once('exit', (code) => reject(new Error(`${program} has ended with ${code}`)))
  })
  const through = new AbortController()
  try {
    await Promise.race([listening(port, through.signal), failed])
  } finally {
    through.abort()
  }
  return child
}

/** A Redis server with nothing in it: { port, start(), stop(), pause(), resume(), close() }. */
const redisServer = (...options) =>
  serverOf('redis-server', "Debian's package redis-server", options)

/** The same of Valkey, whose server is at `program`. */
const valkeyServer = (program) => serverOf(program, "Debian's package valkey-server", [])

async function serverOf(program, wanted, options) {
  const directory = mkdtempSync(join(tmpdir(), 'boxoffice-redis-'))
  const port = await freePort()
  let child
  const server = {
    port,
    async start() {
      const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', directory]
      const all = [...args, ...options].map(String)
      child = await serve(program, all, port, { wanted })
    },
    /** With all that it knows. */
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    },
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async close() {
      await server.stop()
      rmSync(directory, { recursive: true })
    },
  }
  await server.start()
  return server
}

/** A way to `port` that can be cut, or stalled: { port, cut(), stall(), flow(), close() }. */
async function proxy(port) {
  const pairs = new Set()
  let isStalled = false
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1')
    const pair = [near, far]
    pairs.add(pair)
    for (const [from, to] of [pair, [far, near]]) {
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => {}) // closed by whom it may be: the other one is closed, too
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

module.exports = { freePort, proxy, redisServer, serve, valkeyServer }
