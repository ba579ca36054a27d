// Processes of a bench, which run commands, one message after the other.
const { fork } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')

/**
 * Starts `file` of this folder. Its message { result } ends the last command; any other message
 * goes to `hear(message, child)`.
 */
function startProcess(file, args, hear) {
  const child = fork(path.join(__dirname, file), args)
  const ended = once(child, 'exit')
  let settle
  child.on('message', (message) => {
    if ('result' in message) settle.resolve(message.result)
    else hear(message, child)
  })
  child.on('exit', () => settle?.reject(new Error('a process of the bench has died')))
  const doIt = (work) =>
    new Promise((resolve, reject) => {
      settle = { resolve, reject }
      child.send(work)
    })
  return { child, ended, do: doIt }
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

module.exports = { freePort, startProcess }
