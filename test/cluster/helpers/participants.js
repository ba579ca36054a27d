'use strict'
// Processes that use the locks of an engine.
const { fork } = require('node:child_process')

/**
 * One process with an engine that `connector` connects to `port`: ask(what, how) resolves to the
 * result of participant.js, and `child` is the process. `within` are words before the program, which it must replace by
 * exec.
 */
async function participant({ connector, port, options = {}, clockOff = 0, within = [] }) {
  const setUp = JSON.stringify({ connector, port, options, clockOff })
  const [execPath, ...execArgv] = [...within, process.execPath]
  const child = fork(require.resolve('./participant.js'), [setUp], { execPath, execArgv })
  const asked = new Map()
  let last = 0
  const expect = (number) =>
    new Promise((resolve, reject) => asked.set(number, { resolve, reject }))
  const ready = expect(0)
  child.on('message', ({ number, answer, error }) => {
    const { resolve, reject } = asked.get(number)
    asked.delete(number)
    if (error === undefined) resolve(answer)
    else reject(Object.assign(new Error(error.message), { code: error.code }))
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  ended.then(() => {
    for (const { reject } of asked.values()) reject(new Error('the process has ended'))
  })
  await ready
  return {
    child,
    ask(what, how = {}) {
      last++
      child.send({ number: last, what, ...how })
      return expect(last)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

module.exports = { participant }
