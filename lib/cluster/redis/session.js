'use strict'
// Opens a session in Redis, with the client of the renewing thread (keeper.js) or of the user (driver.js).
const { hostname } = require('node:os')
const { versionError } = require('../errors.js')
const { protocol, sessionOf, versionOf } = require('./names.js')

/** For operators: see docs/operations.md. */
const owner = `${hostname()}:${process.pid}`

/** Opens `session` for `ttl` ms under `base`. `command(key, words)` sends a command. */
async function openSession(command, base, session, ttl) {
  const theirs = await command(base, ['SET', versionOf(base), protocol, 'NX', 'GET'])
  if (theirs !== null) checkProtocol(base, `${theirs}`)
  await command(base, ['SET', sessionOf(base, session), `${owner} ${ttl}`, 'PX', `${ttl}`])
}

function checkProtocol(base, theirs) {
  if (theirs === protocol) return
  const cure = `delete all keys that begin with ${base}:`
  throw versionError(`${base} in Redis`, theirs, protocol, cure)
}

module.exports = { openSession }
