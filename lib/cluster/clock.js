'use strict'
// The monotonic clock that all threads of a process share, in milliseconds. The clocks of JavaScript
// would not do: test frameworks replace them while servers keep real time, and in Bun and Deno they
// start anew in each thread.
const { now } = require('../addon/load.js').clock
const { clearTimeout, setTimeout } = require('../core/builtins.js')

/** The usual clock of a Hub: see its constructor. */
const processClock = Object.freeze({ now, setTimeout, clearTimeout })

/** Resolves after `time` ms of `clock`. Its timer does not keep the process alive. */
const after = (clock, time) =>
  new Promise((resolve) => {
    clock.setTimeout(resolve, time).unref()
  })

/**
 * Returns how long a lease that the server grants for `time` ms is safe, counted from sending the command. The clock
 * rates of two machines may differ by 1 %, and a timer may be 2 ms late.
 */
const safely = (time) => time * 0.99 - 2

/** Returns the rest of `time` after `passed` ms, as a time to request from the server: at least a millisecond. */
const leftOf = (time, passed) => Math.max(1, Math.ceil(time - passed))

/** Returns the time to request from the server so that a lease is safe for `time` ms. */
const asked = (time) => (time + 2) / 0.99

/**
 * Returns the time until which a session is safe. The renewing thread writes it and the event loop reads it, as an
 * integer of nanoseconds.
 */
const readUntil = (until) => Number(Atomics.load(until, 0)) / 1e6
const writeUntil = (until, time) => Atomics.store(until, 0, BigInt(Math.floor(time * 1e6)))

module.exports = { after, asked, leftOf, now, processClock, readUntil, safely, writeUntil }
