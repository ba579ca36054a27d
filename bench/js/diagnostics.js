// The cost of diagnostics: works of rows.js, with and without diagnostics.
const { formsOf, loadOurs } = require('./kits.js')
const { rows } = require('./rows.js')

const works = ['pair', 'releaser', 'run', 'semaphore', 'keyed-acquire', 'read-mostly', 'contended']

const diagnosticsRows = Object.fromEntries(
  works.map((work) => [
    `watched-${work}`,
    { ...rows[work], title: `${rows[work].title}, watched` },
  ]),
)

function watched(diagnostics) {
  const options = { diagnostics }
  const { Mutex, Semaphore, KeyedMutex, RWLock } = loadOurs()
  const withOptions = (Lock) =>
    class extends Lock {
      constructor() {
        super(options)
      }
    }
  return formsOf({
    Mutex: withOptions(Mutex),
    KeyedMutex: withOptions(KeyedMutex),
    RWLock: withOptions(RWLock),
    Semaphore: class extends Semaphore {
      constructor(value) {
        super(value, options)
      }
    },
  })
}

const diagnosticsKits = {
  off: () => watched(false),
  counters: () => watched('counters'),
  full: () => watched(true),
}

module.exports = { diagnosticsKits, diagnosticsRows }
