'use strict'
// The state of a lock of scope host, for snapshots.
const process = require('node:process')
const native = require('../addon/load.js')

/**
 * The state of the lock at `wordIndex`, with `waiting` callers of this process, unless C++ knows all of them. A process
 * that holds the lock is not in the queue of processes, so its own waiters are added here.
 */
function look(wordIndex, waiting) {
  const seen = native.host.look(wordIndex)
  if (waiting !== undefined) seen.waiting = waiting
  const { waiterPids } = seen
  if (seen.waiting > 0 && !waiterPids.includes(process.pid)) waiterPids.push(process.pid)
  return seen
}

module.exports = { look }
