'use strict'
// Which listening connections live, as the server knows it: a release passes over a request whose connection is gone.
//
// A listening connection holds an advisory lock of its process number, which ends with it. To see that the lock is taken costs
// 1 us. The server's own list of processes costs 50 us, because each transaction copies the whole of it; it is for a
// connection without that lock, of an older version or where another program has taken it.

/** The first half of the lock's key: "boxo". */
const family = 0x626f786f

/** Takes the lock, which another program may have. */
const markAlive = (backend) => ({
  text: 'SELECT pg_try_advisory_lock($1, $2)',
  values: [family, backend],
})

/** Whether the server process `listener`, which may be null, has a listening connection: not true without. */
const isListening = (listener) => `(NOT pg_try_advisory_xact_lock_shared(${family}, ${listener})
        OR EXISTS (SELECT FROM pg_stat_get_activity(${listener}) WHERE ${listener} > 0))`

module.exports = { isListening, markAlive }
