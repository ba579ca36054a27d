'use strict'
// The code that runs in the processes of hosts.js.
const boxoffice = require('../..')

const Step = (async () => {}).constructor
const my = {} // what steps leave for later ones
const turn = () => new Promise(setImmediate)
const codeOf = async (action) => {
  try {
    await action()
  } catch (error) {
    return error.code ?? error.name
  }
}

process.on('message', async ({ id, code }) => {
  try {
    const step = new Step('boxoffice', 'my', 'turn', 'codeOf', 'require', code)
    process.send({ id, value: await step(boxoffice, my, turn, codeOf, require) })
  } catch (error) {
    // An error with a code would arrive as an object without its message.
    const { message, stack, code } = error
    process.send({ id, error: Object.assign(new Error(message), { stack, told: code }) })
  }
})
