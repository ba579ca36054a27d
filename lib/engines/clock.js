'use strict'
// The monotonic clock that all threads of a process share, in milliseconds. Taken at load: users fake clocks,
// and no server would follow them.
const hrtime = process.hrtime.bigint
const passed = performance.now.bind(performance)
const start = Number(hrtime()) / 1e6 - passed()

const now = () => start + passed()

/**
 * How long a lease that the server counts `time` ms for is safe, from the moment when the command for it was
 * sent: clocks of two machines may differ by 1 % in how fast they go, and a timer may be 2 ms late.
 */
const safely = (time) => time * 0.99 - 2

/** How long the server must count for what is to be safe for `time` ms. */
const asked = (time) => (time + 2) / 0.99

module.exports = { asked, now, safely }
