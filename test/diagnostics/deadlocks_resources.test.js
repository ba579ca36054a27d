'use strict'
// A resource that the chain of a hold has made may release the hold in any of its callbacks, until Node.js has destroyed it.
const assert = require('node:assert/strict')
const { AsyncResource } = require('node:async_hooks')
const { EventEmitter, EventEmitterAsyncResource, once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { MessageChannel } = require('node:worker_threads')
const zlib = require('node:zlib')
const { Mutex } = require('../..')
const { within } = require('../helpers/agents.js')

const diagnostics = true
/** The callback that releases the hold. */
const last = 4

const ended = (promise) => within(5000, promise)
const turn = () => new Promise(setImmediate)
const codeOf = (promise) =>
  promise.then(
    () => 'fine',
    ({ code }) => code,
  )

describe('No deadlock is reported while a resource of the chain may call back again', () => {
  /** Emits 'tick' outside of each chain, with turns of the event loop in between. */
  const outside = new EventEmitter()
  let timer
  let server
  let web
  before(async () => {
    timer = setInterval(() => outside.emit('tick'), 5)
    outside.setMaxListeners(0)
    server = net.createServer((socket) => {
      const write = () => socket.write('x')
      outside.on('tick', write)
      socket.on('error', () => {}).on('close', () => outside.off('tick', write))
    })
    web = http.createServer((_, response) => {
      const write = () => response.write('x')
      outside.on('tick', write)
      response.on('close', () => outside.off('tick', write))
    })
    const { port1, port2 } = new MessageChannel()
    sends.toOutside = port1
    port2.on('message', (port) => {
      sends.port = port
    })
    for (const one of [server, web]) await once(one.listen(0, '127.0.0.1'), 'listening')
  })
  after(() => {
    clearInterval(timer)
    sends.toOutside.close()
    server.close()
    web.close()
  })

  /** Calls `call` from outside of the chain, as long as it returns true. */
  function drive(call) {
    const onTick = () => call() || outside.off('tick', onTick)
    outside.prependListener('tick', onTick)
  }

  // Each makes a resource whose callbacks call `more`, which returns false after the last one.
  const resources = {
    'an interval'(more) {
      const interval = setInterval(() => more() || clearInterval(interval), 2)
    },
    'a timer that is refreshed'(more) {
      const timeout = setTimeout(() => more() && timeout.refresh(), 2)
    },
    'a socket'(more) {
      const socket = net.connect(server.address().port, '127.0.0.1')
      socket.on('data', () => more() || socket.destroy())
    },
    'a response of http'(more) {
      const { port } = web.address()
      http.get({ port, host: '127.0.0.1', agent: false }, (response) => {
        response.on('data', () => more() || response.destroy())
      })
    },
    'a stream of zlib'(more) {
      const stream = zlib.createGzip({ chunkSize: 64 })
      stream.on('data', () => more() || stream.destroy())
      const noise = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 31) >> 3))
      stream.end(noise)
    },
    'a message port'(more) {
      const { port1, port2 } = new MessageChannel()
      port1.on('message', () => more() || port1.close())
      // The other port leaves the chain.
      sends.toOutside.postMessage(port2, [port2])
    },
    'an AsyncResource'(more) {
      calls.resource = new AsyncResource('pool')
      calls.more = more
    },
    'an EventEmitterAsyncResource'(more) {
      emits.emitter = new EventEmitterAsyncResource({ name: 'queue' })
      emits.emitter.on('item', () => {
        emits.goesOn = more()
      })
    },
  }
  // The parts outside of the chain: the program has opened these before.
  const sends = {}
  const calls = {}
  const emits = {}
  const drivers = {
    'a message port': () => {
      sends.port?.postMessage('more')
      return true
    },
    'an AsyncResource': () => calls.resource.runInAsyncScope(calls.more),
    'an EventEmitterAsyncResource': () => {
      emits.emitter.emit('item')
      return emits.goesOn
    },
  }

  for (const [what, make] of Object.entries(resources)) {
    it(`by ${what}`, async () => {
      const mutex = new Mutex({ diagnostics })
      let driver
      const tick = new Promise((resolve) => {
        driver = resolve
      })
      tick.then(() => drivers[what] && drive(drivers[what]))
      const holds = async () => {
        const release = await mutex.acquire()
        let called = 0
        make(() => {
          if (++called === last) release()
          return called < last
        })
        driver()
        const again = await mutex.acquire()
        again()
        return called
      }
      assert.ok((await ended(holds())) >= last)
    })
  }
})

describe('A deadlock is found once the resources of the chain are destroyed', () => {
  /** A mutex that a caller acquires twice, after `make` has made a resource and before `end` ends it. */
  async function waitsFor(make, end) {
    const mutex = new Mutex({ diagnostics })
    let resource
    const outcome = codeOf(
      mutex.runExclusive(() => {
        resource = make()
        return mutex.runExclusive(() => {})
      }),
    )
    for (let i = 0; i < 4; i++) await turn()
    assert.equal(mutex.snapshot().waiting, 1)
    end(resource)
    assert.equal(await ended(outcome), 'ERR_LOCK_DEADLOCK')
  }

  it('an AsyncResource', () =>
    waitsFor(
      () => {
        const resource = new AsyncResource('pool', { requireManualDestroy: true })
        resource.runInAsyncScope(() => {})
        return resource
      },
      (resource) => resource.emitDestroy(),
    ))

  it('a message port', () =>
    waitsFor(
      () => new MessageChannel().port1,
      (port) => port.close(),
    ))

  it('a server', () =>
    waitsFor(
      () => net.createServer().listen(0, '127.0.0.1'),
      (server) => server.close(),
    ))

  it('an interval that its own callback clears', async () => {
    const mutex = new Mutex({ diagnostics })
    const outcome = mutex.runExclusive(() => {
      let called = 0
      const interval = setInterval(() => ++called === 3 && clearInterval(interval), 1)
      return mutex.runExclusive(() => {})
    })
    assert.equal(await ended(codeOf(outcome)), 'ERR_LOCK_DEADLOCK')
  })

  it('a timer that has called back', async () => {
    const mutex = new Mutex({ diagnostics })
    const outcome = mutex.runExclusive(() => {
      setTimeout(() => {}, 1)
      return mutex.runExclusive(() => {})
    })
    assert.equal(await ended(codeOf(outcome)), 'ERR_LOCK_DEADLOCK')
  })
})
