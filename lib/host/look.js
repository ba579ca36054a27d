'use strict'
// The state of a lock of scope host, for snapshots.
const process = require('node:process')
const native = require('../addon/load.js')

/**
 * Returns the state of the lock at `wordIndex`. `waiting` is the number of this process's callers that wait in
 * JavaScript; undefined if C++ knows all of them. This process is not in the queue of processes while it holds the
 * lock, so its waiters are added here.
 */
function look(wordIndex, waiting) {
  const seen = native.host.look(wordIndex)
  if (waiting !== undefined) seen.waiting = waiting
  const { waiterPids } = seen
  if (seen.waiting > 0 && !waiterPids.includes(process.pid)) waiterPids.push(process.pid)
  return seen
}

module.exports = { look }
