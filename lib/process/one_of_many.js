'use strict'
// A name without a scope reaches one process, which surprises where a program runs as several.
const builtins = require('../core/builtins.js')
const { nameOf } = require('../core/keys.js')
const { warnHere } = require('../core/warn.js')

/**
 * PM2 sets `instances` to the number of instances at the start, which `pm2 scale` does not change later. It sets the
 * variable that `instance_var` names to the number of this instance.
 */
function isInstanceOfMany() {
  const own = builtins.variable(builtins.variable('instance_var') ?? 'NODE_APP_INSTANCE')
  return Number(builtins.variable('instances')) > 1 || Number(own) > 0
}

/** What runs this process as one of several, or undefined. */
function manager() {
  if (builtins.variable('pm_id') !== undefined) {
    if (isInstanceOfMany()) return 'one of several instances of PM2'
    // In its cluster mode PM2 is the primary even of a single instance.
    if (builtins.variable('exec_mode') === 'cluster_mode') return undefined
  }
  // Only a process with a channel to its parent can be a worker: others need not load the module.
  const isWorker = typeof process.send === 'function' && builtins.cluster.isWorker
  return isWorker ? 'a worker of node:cluster' : undefined
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
