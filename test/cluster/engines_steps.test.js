'use strict'
// The cost of each operation over an engine in executed blocks of code: it does not grow with the leases of this thread.
const { itDoesNotGrow } = require('../helpers/step_counts.js')

const names = [
  'a lease that is taken and given back beside held ones',
  'a hand-off beside held leases',
  'a reader with maxHold beside readers',
  'a lease whose end is the next one beside held leases',
  'the check of a renewed session beside held leases',
  'a call with maxPending beside callers that wait for the server',
  'a call that gives up beside callers that wait for the server',
  'a call that times out beside callers that wait for the server',
]

describe('Over an engine, the number of steps does not grow', () => {
  itDoesNotGrow(require.resolve('./helpers/steps_run.js'), names)
})
