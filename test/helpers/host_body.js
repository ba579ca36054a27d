'use strict'
// What runs in the processes of hosts.js.
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
    process.send({ id, error })
  }
})
