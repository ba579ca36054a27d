'use strict'
// Renews sessions in Redis: runs in the thread of a keeper (../keeper_thread.js).
const { explained } = require('./rights.js')
const clients = { ioredis: require('./ioredis.js'), redis: require('./node_redis.js') }
const sentinel = require('./node_sentinel.js')

async function connect({ bases, rights, patience, path, client }, trouble) {
  const adapter = client.isSentinel ? sentinel : clients[client.module]
  const { command, close } = await adapter.connect(require(path), client, trouble, patience)
  const all = async (session, make) => {
    try {
      return await Promise.all(bases.map((base) => command(base, make(`${base}:s:${session}`))))
    } catch (error) {
      throw explained(error, rights)
    }
  }
  return {
    open: (session, ttl) => all(session, (key) => ['SET', key, '1', 'PX', `${ttl}`]),
    async renew(session, ttl) {
      const answers = await all(session, (key) => ['PEXPIRE', key, `${ttl}`])
      return answers.every((answer) => Number(answer) === 1)
    },
    close,
  }
}

module.exports = { connect }
