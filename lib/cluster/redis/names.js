'use strict'
// The names of keys and channels in Redis. The top of script.js describes what they contain.

/** The version of the names and their values. Engines of different versions cannot share a prefix. */
const protocol = '1'

const versionOf = (base) => `${base}:version`

/** The key of the number of shards. Only the first base has one. */
const shardsOf = (base) => `${base}:shards`

/** The key of a session, which exists as long as the session. */
const sessionOf = (base, session) => `${base}:s:${session}`

/** The channel for the messages to a session. */
const channelOf = (base, session) => `${base}:to:${session}`

/** The keys that a step declares. The base itself never exists: see script.js. */
const keysOf = (base, key) => [base, `${base}:k:${key}`, `${base}:l:${key}`]

module.exports = { channelOf, keysOf, protocol, sessionOf, shardsOf, versionOf }
