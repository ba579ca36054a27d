'use strict'
// The cost of each operation in executed blocks of code: it does not grow with the waiters, keys, holders or watchers
// that it does not serve.
const { itDoesNotGrow } = require('../helpers/step_counts.js')

const names = [
  'notifyOne() beside waiters',
  'the release of a key after onIdle(), beside held keys',
  'the release of a key after close(), beside held keys',
  'a key that comes and goes after onIdle(), beside held keys',
  'the release of a semaphore beside heavier callers of waitForUnlock()',
  'a hand-off of a semaphore beside callers of waitForUnlock() without a priority',
  'units that come back without a Releaser, beside holders',
  "a hand-off of a mutex with fairness: 'fifo', beside waiters",
  'a read-write lock that is tried beside waiters',
]

describe('The number of steps does not grow', () => {
  itDoesNotGrow(require.resolve('../helpers/steps_run.js'), names)
})
