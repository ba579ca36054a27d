'use strict'
// Warns of a name without a scope in a process that is one of several: such a name reaches only one process.
const builtins = require('../core/builtins.js')
const { nameOf } = require('../core/keys.js')
const { warnHere } = require('../core/warn.js')

/**
 * PM2 sets `instances` to the number of instances at the start, and `pm2 scale` does not update it. `instance_var`
 * names the variable with the number of this instance.
 */
function isInstanceOfMany() {
  const own = builtins.variable(builtins.variable('instance_var') ?? 'NODE_APP_INSTANCE')
  return Number(builtins.variable('instances')) > 1 || Number(own) > 0
}

/** Returns what this process is one of, as text for the warning, or undefined. */
function manager() {
  if (builtins.variable('pm_id') !== undefined) {
    if (isInstanceOfMany()) return 'one of several instances of PM2'
    // In its cluster mode PM2 is the primary even of a single instance.
    if (builtins.variable('exec_mode') === 'cluster_mode') return undefined
  }
  // Only a process with a channel to its parent can be a worker. Other processes need not load the module.
  const isWorker = typeof process.send === 'function' && builtins.cluster.isWorker
  return isWorker ? 'a worker of node:cluster' : undefined
}

let hasWarned = false

/** Warns of a lock of `kind` with a name and no scope, once per thread. */
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
