'use strict'
// The names of an engine in Redis. script.js says what they hold.

/** It changes with the meaning of the names, so that no two meanings mix. */
const protocol = '1'

const versionOf = (base) => `${base}:version`

/** The key of a session, which exists as long as the session. */
const sessionOf = (base, session) => `${base}:s:${session}`

/** The channel of a session. */
const channelOf = (base, session) => `${base}:to:${session}`

/** The keys that a step declares. The base itself never exists: see script.js. */
const keysOf = (base, key) => [base, `${base}:k:${key}`, `${base}:l:${key}`]

module.exports = { channelOf, keysOf, protocol, sessionOf, versionOf }
