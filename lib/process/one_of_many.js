'use strict'
// A name without a scope reaches one process, which surprises where a program runs as several.
const builtins = require('../core/builtins.js')
const { nameOf } = require('../core/keys.js')
const { warnHere } = require('../core/warn.js')

/** What runs this process as one of several, or undefined. */
function manager() {
  // Only a process with a channel to its parent can be a worker: others need not load the module.
  if (typeof process.send === 'function' && builtins.cluster.isWorker)
    return 'a worker of node:cluster'
  return builtins.variable('NODE_APP_INSTANCE') === undefined ? undefined : 'an instance of PM2'
}

let hasWarned = false

/** A lock of `kind` has a name and no scope. Warns of the first one of this thread. */
function warnOfName(kind, name) {
  if (hasWarned) return
  const kindOfProcess = manager()
  if (kindOfProcess === undefined) return
  hasWarned = true
  warnHere(
    'BOXOFFICE_ONE_PROCESS',
    `the ${kind} ${nameOf(name)} is shared by the threads of this process only, and this process is ${kindOfProcess}: ` +
      "give the lock scope: 'host' to share it with the other processes, or scope: 'process' if only threads are meant",
    'It was constructed',
  )
}

module.exports = { warnOfName }
