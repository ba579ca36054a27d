// The locks under test that processes share. A kit is
//   open(means)   in each process: { enter, leave, tryEnter? } by a key, a number. enter gives what leave
//                 needs, or a promise for it; tryEnter does not wait
//   serve(means)  in the process that starts the others, for kits that need a server: how to stop it
//   hears         it learns of a holder's death by itself
//   keys          how many it has at most, where there is a limit
// `means` are { directory, port, ask }: a directory of the bench's own in memory, a free port of the loopback,
// and, for the broker, a way to ask the process that started us.
const { execFileSync, spawn } = require('node:child_process')
const { closeSync, openSync, writeSync } = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { createInterface } = require('node:readline')
const { loadOurs } = require('./kits.js')

const hostKits = {
  ours: {
    hears: true,
    open({ directory }) {
      const { KeyedMutex } = loadOurs()
      const locks = new KeyedMutex({ scope: 'host', name: 'bench', directory })
      return {
        enter: (key) => locks.lock(key),
        tryEnter: (key) => locks.tryLock(key),
        leave: (key) => locks.unlock(key),
      }
    },
  },

  'ours, one mutex': {
    hears: true,
    keys: 1,
    open({ directory }) {
      const { Mutex } = loadOurs()
      const mutex = new Mutex({ scope: 'host', name: 'bench', directory })
      return {
        enter: () => mutex.lock(),
        tryEnter: () => mutex.tryLock(),
        leave: () => mutex.unlock(),
      }
    },
  },

  'fs-native-extensions': {
    hears: true,
    open({ directory }) {
      const { tryLock, unlock, waitForLock } = require('fs-native-extensions')
      const fd = openSync(path.join(directory, 'ranges'), 'a+')
      return {
        enter: (key) => waitForLock(fd, key, 1),
        tryEnter: (key) => tryLock(fd, key, 1),
        leave: (key) => unlock(fd, key, 1),
      }
    },
  },

  'flock of fs-ext': {
    hears: true,
    open({ directory }) {
      // fs-ext itself has to be compiled: this is the same code, compiled.
      const { flock, flockSync } = require('fs-ext-extra-prebuilt')
      const files = new Map()
      const file = (key) => {
        if (!files.has(key)) files.set(key, openSync(path.join(directory, `file-${key}`), 'a'))
        return files.get(key)
      }
      const enter = (key) =>
        new Promise((resolve, reject) => {
          flock(file(key), 'ex', (error) => (error ? reject(error) : resolve()))
        })
      const tryEnter = (key) => flockSync(file(key), 'exnb')
      return { enter, tryEnter, leave: (key) => flockSync(file(key), 'un') }
    },
  },

  // The cost of waking another event loop at all: one byte per key, and the process that has read
  // it holds the key.
  'a byte in a FIFO': {
    keys: 3,
    open({ directory }) {
      const opened = new Map()
      const fifo = (key) => {
        if (!opened.has(key)) opened.set(key, openFifo(path.join(directory, `fifo-${key}`)))
        return opened.get(key)
      }
      const enter = (key) =>
        new Promise((resolve) => {
          fifo(key).entered = resolve
          fifo(key).socket.resume()
        })
      return { enter, leave: (key) => void writeSync(fifo(key).fd, 'x') }
    },
    serve({ directory }) {
      const all = [0, 1, 2].map((key) => path.join(directory, `fifo-${key}`))
      execFileSync('mkfifo', all)
      const files = all.map((file) => openSync(file, 'r+'))
      for (const file of files) writeSync(file, 'x')
      return () => {
        for (const file of files) closeSync(file)
      }
    },
  },

  'node:sqlite, Node 24': {
    hears: true,
    keys: 1,
    open({ directory }) {
      const { DatabaseSync } = require('node:sqlite')
      const database = new DatabaseSync(path.join(directory, 'bench.sqlite'), { timeout: 30_000 })
      const begin = database.prepare('BEGIN IMMEDIATE')
      const commit = database.prepare('COMMIT')
      const enter = () => begin.run()
      return { enter, tryEnter: enter, leave: () => commit.run() }
    },
  },

  'proper-lockfile': {
    open({ directory }) {
      const { lock } = require('proper-lockfile')
      const retries = { forever: true, factor: 1, minTimeout: 1, maxTimeout: 5 }
      const enter = (key) => lock(path.join(directory, `file-${key}`), { realpath: false, retries })
      return { enter, leave: (_key, release) => release() }
    },
  },

  'live-mutex': {
    async open({ port }) {
      const { Client } = require('live-mutex')
      const client = new Client({ port, lockRequestTimeout: 30_000, ttl: 30_000 })
      await client.ensure()
      const enter = (key) => client.acquire(`key-${key}`)
      return { enter, leave: (key, { id }) => client.release(`key-${key}`, { id }) }
    },
    async serve({ port }) {
      const { Broker } = require('live-mutex')
      const broker = new Broker({ port })
      broker.emitter.on('warning', () => {}) // for every client that ends: a normal end of the bench
      await broker.start()
      return () => broker.close(() => {})
    },
  },

  'redis-semaphore': {
    open({ port }) {
      const { Redis } = require('ioredis')
      const { Mutex } = require('redis-semaphore')
      const client = new Redis({ port })
      const wait = { acquireTimeout: 30_000 }
      const locks = new Map()
      const lock = (key) => {
        if (!locks.has(key)) locks.set(key, new Mutex(client, `key-${key}`, wait))
        return locks.get(key)
      }
      return { enter: (key) => lock(key).acquire(), leave: (key) => lock(key).release() }
    },
    async serve({ port }) {
      const options = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
      const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
      for await (const line of createInterface({ input: server.stdout })) {
        if (line.includes('Ready to accept connections')) break
      }
      return () => server.kill()
    },
  },

  'Map in the primary': {
    hears: true,
    open: ({ ask }) => ({
      enter: (key) => ask({ enter: key }),
      leave: (key) => ask({ leave: key }, { isAnswered: false }),
    }),
  },
}

/** Reads one byte, and no more, when its socket is resumed. */
function openFifo(file) {
  const fd = openSync(file, 'r+')
  const fifo = { fd }
  const callback = () => {
    fifo.entered()
    return false
  }
  fifo.socket = new net.Socket({
    fd,
    manualStart: true,
    onread: { buffer: Buffer.alloc(1), callback },
  })
  return fifo
}

module.exports = { hostKits }
