'use strict'
// An address that leads to one server after another, and whose connections may fall silent without an end.
const net = require('node:net')

/**
 * { port, lead(port), slow(ms), silence(isOne), cut(isOne), count(), close() }. slow() delays all that clients send from
 * now on. lead() is for connections that are made later, and
 * the other ones stay where they are. silence() and cut() are for those of the present connections for which isOne(text)
 * is true: `text` is what the client has sent.
 */
async function stableAddress(port) {
  const pairs = new Set()
  let target = port
  let delay = 0
  const server = net.createServer((near) => {
    const far = net.connect(target, '127.0.0.1')
    const pair = { near, far, sent: '', isSilent: false }
    pairs.add(pair)
    near.on('data', (chunk) => {
      pair.sent += chunk
      if (pair.isSilent) return
      if (delay === 0) far.write(chunk)
      else setTimeout(() => far.write(chunk), delay)
    })
    far.on('data', (chunk) => {
      if (!pair.isSilent) near.write(chunk)
    })
    for (const socket of [near, far]) {
      socket.on('error', () => {}) // whichever end closed, the other is closed, too
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        pairs.delete(pair)
      })
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const those = (isOne) => [...pairs].filter(({ sent }) => isOne(sent))
  const all = () => true
  return {
    port: server.address().port,
    lead(port) {
      target = port
    },
    slow(ms) {
      delay = ms
    },
    silence(isOne = all) {
      for (const pair of those(isOne)) pair.isSilent = true
    },
    cut(isOne = all) {
      for (const { near } of those(isOne)) near.destroy()
    },
    /** The number of connections that are not silent. */
    count: (isOne = all) => those(isOne).filter(({ isSilent }) => !isSilent).length,
    close() {
      for (const { near } of pairs) near.destroy()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

module.exports = { stableAddress }
