'use strict'
// The client of a renewing thread that is replaced.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const redis = require('redis')
const { start } = require('../../lib/cluster/redis/node_redis.js')
const { replaced } = require('../../lib/cluster/redis/replaced.js')

describe('A client of the renewing thread that is silent', () => {
  it('rejects all its commands with the error of the silence', async () => {
    const startSilent = () => {
      const rejects = []
      return {
        opening: Promise.resolve(),
        command: () => new Promise((_, reject) => rejects.push(reject)),
        close() {
          for (const reject of rejects) reject(new Error('Disconnects client'))
        },
      }
    }
    const { command, close } = replaced(startSilent, () => {})
    const first = command('key', ['PING'], 20)
    const second = command('key', ['PING'], 10_000)
    await assert.rejects(first, { message: 'there was no answer within 20 ms' })
    await assert.rejects(second, { message: 'there was no answer within 20 ms' })
    await close()
  })

  it('ends its connection, though the server answers no greeting, by redis', async () => {
    const sockets = []
    const server = net.createServer((socket) => sockets.push(socket.resume()))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const socket = { host: '127.0.0.1', port: server.address().port, connectTimeout: 50 }
    const options = { isCluster: false, options: { socket } }
    const { command, close } = replaced(
      (events) => start(redis, options, events),
      () => {},
    )
    const answer = command('key', ['PING'], 100)
    await once(server, 'connection')
    await assert.rejects(answer, { message: 'there was no answer within 100 ms' })
    await once(sockets[0], 'close')
    await close()
    server.close()
  })
})
