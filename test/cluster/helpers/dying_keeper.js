'use strict'
// Renews sessions of a fake server as fake_keeper.js does, in a thread that dies of an uncaught
// error.
const { connect: connectToFake } = require('./fake_keeper.js')

const failLater = () =>
  setImmediate(() => {
    throw new Error('a bug')
  })

let attempts = 0

/**
 * `diesAt` is the name of the command at which it dies; or 'connect', which only fails, and only
 * once; or 'trying', which retries for ever and reports why.
 */
async function connect({ name, diesAt }, trouble) {
  attempts++
  if (diesAt === 'trying') {
    const refused = Object.assign(new Error('refused at ::1'), { code: 'ECONNREFUSED' })
    trouble(new AggregateError([refused, new Error('refused at 127.0.0.1')]))
    await new Promise(() => {})
  }
  if (diesAt === 'connect' && attempts === 1) throw new Error('refused')
  const keeper = await connectToFake(name)
  if (diesAt === 'connect') return keeper
  keeper[diesAt] = () => {
    failLater()
    return new Promise(() => {})
  }
  return keeper
}

module.exports = { connect }
