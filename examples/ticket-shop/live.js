'use strict'
const { setTimeout: sleep } = require('node:timers/promises')

// Twenty updates a second suffice for the eye, however busy the shop is.
const INTERVAL = 50

/**
 * Server-sent events: every page gets the whole state whenever it may have changed. Without a page,
 * no state is read or sent.
 *
 * @param {() => Promise<object>} readState
 */
module.exports = function createLive(readState) {
  const clients = new Set()
  let stale = false
  let pumping = null

  async function pump() {
    while (stale && clients.size > 0) {
      stale = false
      const event = `data: ${JSON.stringify(await readState())}\n\n`
      for (const client of clients) {
        // A page that cannot keep up misses this state. It gets the next one once it has drained.
        if (!client.writableNeedDrain) client.write(event)
      }
      await sleep(INTERVAL)
    }
  }

  function changed() {
    stale = true
    if (pumping || clients.size === 0) return
    pumping = pump()
      .catch((error) => {
        console.error('The live page stopped:', error)
        endAll()
      })
      .finally(() => {
        pumping = null
        if (stale) changed() // a page has connected since the last one left
      })
  }

  function endAll() {
    for (const client of clients) client.end()
    clients.clear()
  }

  return {
    changed,

    /** @param {import('node:http').ServerResponse} response */
    add(response) {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        connection: 'close', // the connection ends with the stream
      })
      clients.add(response)
      response.on('drain', changed)
      response.on('close', () => clients.delete(response))
      changed()
    },

    get size() {
      return clients.size
    },

    async close() {
      endAll()
      await pumping
    },
  }
}
