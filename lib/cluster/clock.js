'use strict'
// The monotonic clock that all threads of a process share, in milliseconds. JavaScript has none:
// test frameworks replace its clocks while servers keep real time, and those of Bun and Deno start
// anew in each thread.
const { now } = require('../addon/load.js').clock
const { clearTimeout, setTimeout } = require('../core/builtins.js')

/** What a Hub counts time by: see its constructor. */
const processClock = Object.freeze({ now, setTimeout, clearTimeout })

/** Resolves after `time` ms of `clock`. Its timer does not keep the process alive. */
const after = (clock, time) =>
  new Promise((resolve) => {
    clock.setTimeout(resolve, time).unref()
  })

/**
 * How long a lease that the server grants for `time` ms is safe, counted from sending the command:
 * the clock rates of two machines may differ by 1 %, and a timer may be 2 ms late.
 */
const safely = (time) => time * 0.99 - 2

/** What is left of `time` after `passed`, as a time to request: not less than a millisecond. */
const leftOf = (time, passed) => Math.max(1, Math.ceil(time - passed))

/** The time to request from the server so that a lease is safe for `time` ms. */
const asked = (time) => (time + 2) / 0.99

/**
 * The time until which a session is safe. The renewing thread writes it and the event loop reads it, as an integer of
 * nanoseconds.
 */
const readUntil = (until) => Number(Atomics.load(until, 0)) / 1e6
const writeUntil = (until, time) => Atomics.store(until, 0, BigInt(Math.floor(time * 1e6)))

module.exports = { after, asked, leftOf, now, processClock, readUntil, safely, writeUntil }
