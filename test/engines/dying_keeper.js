'use strict'
// Renews sessions of a fake server as fake_keeper.js does, in a thread that ends by what nobody catches.
const { connect: connectToFake } = require('./fake_keeper.js')

const failLater = () =>
  setImmediate(() => {
    throw new Error('a bug')
  })

let attempts = 0

/** `diesAt` is the name of the command by which it ends; or 'connect', which only fails, and only once. */
async function connect({ name, diesAt }) {
  attempts++
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
