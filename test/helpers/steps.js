'use strict'
// The work of an operation as a number that depends on nothing but the code: how often the blocks of lib/ are executed.
const { Session } = require('node:inspector')
const path = require('node:path')

const lib = `${path.join(__dirname, '..', '..', 'lib')}${path.sep}`

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/** How many blocks of lib/ `act()` executes before it returns. Only files that are loaded after this one count. */
function stepsOf(act) {
  counted()
  act()
  return counted()
}

/** The same for an operation that ends when the promise of `act()` resolves. */
async function stepsUntil(act) {
  counted()
  await act()
  return counted()
}

/** The blocks executed since the last call. */
function counted() {
  let steps
  session.post('Profiler.takePreciseCoverage', (error, { result } = {}) => {
    if (error) throw error
    steps = result.filter(({ url }) => url.includes(lib)).reduce(blocksOf, 0)
  })
  return steps
}

function blocksOf(sum, { functions }) {
  const counts = functions.flatMap(({ ranges }) => ranges.map(({ count }) => count))
  return counts.reduce((all, count) => all + count, sum)
}

module.exports = { stepsOf, stepsUntil }
