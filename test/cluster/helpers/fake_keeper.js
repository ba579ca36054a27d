'use strict'
// Renews sessions of a fake server, from the thread of a keeper.
const { BroadcastChannel } = require('node:worker_threads')

async function connect(name) {
  const channel = new BroadcastChannel(name)
  const waiting = new Map()
  let last = 0
  channel.onmessage = ({ data }) => {
    waiting.get(data.answerTo)?.(data.isAlive)
    waiting.delete(data.answerTo)
  }
  const ask = (what) => (session, ttl) =>
    new Promise((resolve) => {
      last++
      // Other keepers get the message, too.
      const number = `${session} ${last}`
      waiting.set(number, resolve)
      channel.postMessage({ number, what, session, ttl })
    })
  return { open: ask('open'), renew: ask('renew'), close: async () => channel.close() }
}

module.exports = { connect }
