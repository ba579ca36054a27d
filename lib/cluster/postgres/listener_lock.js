'use strict'
// Tells the server which listening connections are alive: a release passes over a request whose connection is gone.
//
// Each listening connection holds an advisory lock of its process number, which ends with the connection. To check that
// lock costs 1 us. The server's own list of processes costs 50 us, because each transaction copies all of it. It is
// only read for a connection without the lock: one of an older version, or one whose lock another program has taken.

/** The first half of the lock's key: "boxo". */
const family = 0x626f786f

/** Returns the statement that acquires the lock, unless another program has it. */
const markAlive = (backend) => ({
  text: 'SELECT pg_try_advisory_lock($1, $2)',
  values: [family, backend],
})

/** Returns SQL that is true if the server process `listener` exists, and false or null if not, or if that is null. */
const isListening = (listener) => `(NOT pg_try_advisory_xact_lock_shared(${family}, ${listener})
        OR EXISTS (SELECT FROM pg_stat_get_activity(${listener}) WHERE ${listener} > 0))`

module.exports = { isListening, markAlive }
