'use strict'
// The monotonic clock that all threads of a process share, in milliseconds. None of JavaScript is: users fake them,
// and no server would follow; and those of Bun and Deno begin anew in each thread.
const { now } = require('../load.js').clock

/**
 * How long a lease that the server counts `time` ms for is safe, from the moment when the command for it was
 * sent: clocks of two machines may differ by 1 % in how fast they go, and a timer may be 2 ms late.
 */
const safely = (time) => time * 0.99 - 2

/** How long the server must count for what is to be safe for `time` ms. */
const asked = (time) => (time + 2) / 0.99

/** What a session is safe until, which its thread writes and the event loop reads: in nanoseconds, as integers are. */
const readUntil = (until) => Number(Atomics.load(until, 0)) / 1e6
const writeUntil = (until, time) => Atomics.store(until, 0, BigInt(Math.floor(time * 1e6)))

module.exports = { asked, now, readUntil, safely, writeUntil }
