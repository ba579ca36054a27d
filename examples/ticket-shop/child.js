'use strict'
const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')

/**
 * Starts a shop in a process of its own, so that the load generator does not share its event loop,
 * and so that every row of the table begins with a fresh one.
 *
 * @param {{ lock: string, tickets: number }} options
 */
module.exports = async function startChild({ lock, tickets }) {
  const main = path.join(__dirname, 'main.js')
  const child = fork(main, [
    ...['--serve', '--port', '0', '--pause', '0'],
    ...['--lock', lock, '--tickets', String(tickets)],
  ])
  const exited = once(child, 'exit')
  const url = await Promise.race([
    once(child, 'message').then(([message]) => message.url),
    exited.then(([code, signal]) => {
      throw new Error(`The shop did not start: it ended with ${signal ?? code}.`)
    }),
  ])

  return {
    url,
    async summary() {
      return (await fetch(`${url}/summary`)).json()
    },
    async close() {
      if (child.connected) child.disconnect()
      const [code, signal] = await exited
      if (code !== 0) throw new Error(`The shop ended with ${signal ?? code}.`)
    },
  }
}
