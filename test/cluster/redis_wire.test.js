'use strict'
// The connection of the renewing thread to a single server of Redis, without a client package.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const { join } = require('node:path')
const { Worker } = require('node:worker_threads')
const { Redis } = require('ioredis')
const { createClient } = require('redis')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { Wire } = require('../../lib/cluster/redis/wire.js')
const { useEnds } = require('./helpers/ends.js')
const { redisServer } = require('./helpers/servers.js')

const host = '127.0.0.1'

describe('The connection of the renewing thread to Redis', function () {
  this.timeout(60_000)
  const ends = useEnds()
  let server
  before(async () => {
    server = await redisServer('--unixsocket', 'sock', '--requirepass', 'secret')
  })
  after(() => server.close())

  function connect(more, reports = []) {
    const wire = new Wire(
      { socket: { host, port: server.port }, password: 'secret', ...more },
      (error) => reports.push(error),
    )
    ends.push(() => wire.close())
    return wire
  }

  it('sends words of any characters, and reads each kind of reply', async () => {
    const wire = connect()
    await wire.opening
    const ask = (...words) => wire.command('', words)
    assert.equal(await ask('SET', 'ключ', 'a\r\nb', 'NX', 'GET'), null)
    assert.equal(await ask('GET', 'ключ'), 'a\r\nb')
    assert.equal(await ask('SET', 'ключ', ''), 'OK')
    assert.equal(await ask('GET', 'ключ'), '')
    assert.equal(await ask('PEXPIRE', 'ключ', '60000'), '1')
    await assert.rejects(ask('INCR'), { message: /wrong number of arguments/ })
    assert.deepEqual(await Promise.all([ask('PING'), ask('DEL', 'ключ')]), ['PONG', '1'])
  })

  it('uses the database of the client', async () => {
    const wires = [3, 0].map((database) => connect({ database }))
    await wires[0].command('', ['SET', 'only', 'here'])
    const values = await Promise.all(wires.map((wire) => wire.command('', ['GET', 'only'])))
    assert.deepEqual(values, ['here', null])
  })

  it('connects to the path of a socket', async () => {
    const wire = connect({ socket: { path: join(server.directory, 'sock') } })
    assert.equal(await wire.command('', ['PING']), 'PONG')
  })

  it('rejects with the reason of a refused login, and of a server that is away', async () => {
    await assert.rejects(connect({ password: 'wrong' }).opening, { message: /^WRONGPASS/ })
    await assert.rejects(connect({ password: '' }).opening, { message: /^NOAUTH/ })
    const away = connect({ socket: { host, port: 1 } })
    await assert.rejects(away.opening, { code: 'ECONNREFUSED' })
    assert.ok(away.isOver())
    await assert.rejects(away.command('', ['PING']), { code: 'ECONNREFUSED' })
  })

  it('goes on with a password where the server wants none, as clients do', async () => {
    const open = await redisServer()
    ends.push(() => open.close())
    await connect({ socket: { host, port: open.port } }).opening
  })

  it('reports its end, and rejects the commands that have no reply', async () => {
    const reports = []
    const wire = connect({}, reports)
    await wire.opening
    const pending = wire.command('', ['BLPOP', 'none', '0'])
    const ended = assert.rejects(pending, { message: 'the connection has ended' })
    await connect().command('', ['CLIENT', 'KILL', 'TYPE', 'normal'])
    await ended
    assert.deepEqual(
      reports.map((error) => error?.message),
      [undefined, 'the connection has ended'],
    )
  })

  /** A server that answers the first command with `chunks`, one by one. */
  async function answering(...chunks) {
    const one = net.createServer(async (socket) => {
      socket.on('error', () => {}) // the client may hang up
      await once(socket, 'data')
      for (const chunk of chunks) {
        await new Promise((resolve) => socket.write(chunk, resolve))
        await new Promise(setImmediate)
      }
    })
    await new Promise((resolve) => one.listen(0, host, resolve))
    ends.push(() => new Promise((resolve) => one.close(resolve)))
    return connect({ socket: { host, port: one.address().port }, password: undefined })
  }

  it('reads replies that arrive in parts', async () => {
    const wire = await answering(...'+PONG\r\n$4\r\na\r\nb\r\n$-1\r\n-ERR no\r\n:7\r\n')
    const asked = Array.from({ length: 4 }, () => wire.command('', ['GET', 'a']))
    const settled = await Promise.allSettled([wire.opening, ...asked])
    assert.deepEqual(
      settled.map(({ value, reason }) => reason?.message ?? value),
      [undefined, 'a\r\nb', null, 'ERR no', '7'],
    )
  })

  it('ends when what it reads is no reply', async () => {
    for (const text of ['HTTP/1.1 400 Bad Request\r\n', '+PONG\r\n+A\r\n+B\r\n']) {
      const wire = await answering(text)
      await assert.rejects(
        wire.command('', ['GET', 'a']).then(() => wire.command('', ['GET', 'a'])),
      )
      assert.ok(wire.isOver())
    }
  })

  const clients = {
    redis: () => createClient({ url: `redis://:secret@${host}:${server.port}/2` }),
    ioredis: () => new Redis({ port: server.port, password: 'secret', db: 2, lazyConnect: true }),
  }
  for (const [name, makeClient] of Object.entries(clients)) {
    it(`opens and renews a session as ${name} does, and loads no file of a package`, async () => {
      const { keeper } = redisDriver(makeClient())
      const thread = new Worker(
        `const { parentPort, workerData: { module, data } } = require('node:worker_threads')
         async function main() {
           const keeper = await require(module).connect(data, () => {})
           await keeper.open('session', 60_000)
           const answers = [await keeper.renew('session', 60_000), await keeper.renew('other', 1000)]
           await keeper.close()
           parentPort.postMessage({ answers, files: Object.keys(require.cache) })
         }
         main()`,
        { eval: true, workerData: keeper },
      )
      const [{ answers, files }] = await once(thread, 'message')
      await thread.terminate()
      assert.deepEqual(answers, [true, false])
      assert.deepEqual(
        files.filter((file) => file.includes('node_modules')),
        [],
      )
      assert.ok(files.length <= 18, files.join('\n'))
      const wire = connect({ database: 2 })
      assert.match(await wire.command('', ['GET', '{boxoffice:0}:s:session']), / 60000$/)
      await wire.command('', ['FLUSHALL'])
    })
  }
})
