'use strict'
// Makes the calls of database functions, for the driver and for the renewing thread.
const { createHash } = require('node:crypto')
const { causedError } = require('../../core/caused_errors.js')
const { isTrue } = require('./text.js')

/** The longest key that is stored as it is: an index has no room for long keys. */
const longestKey = 500
const digestMark = 'sha256:'

/**
 * Returns the key as stored in the table: the key itself if it is short and ASCII, which every database encoding has,
 * or else its digest. A key that looks like a digest is stored as a digest, too.
 */
function rowOf(key) {
  const isPlain = /^[\x20-\x7e]*$/.test(key)
  if (isPlain && key.length <= longestKey && !isDigest(key)) return key
  // Do not use UTF-8, which maps all unpaired surrogates to one character.
  return digestMark + createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')
}

const isDigest = (row) => row.startsWith(digestMark)

/** The call of the database function `name`. */
function callOf(name, values) {
  const places = values.map((_, i) => `$${i + 1}`)
  return { name, text: `SELECT * FROM ${name}(${places})`, values }
}

/** The SQLSTATE of a refusal: permission denied. */
const forbidden = '42501'

/** Returns `error`; if the server refused its user a right, an error that says how to grant it. */
function explained(error, { schema, leases }) {
  if (error.code !== forbidden) return error
  return causedError(
    'ERR_LOCK_ENGINE_SCHEMA',
    `${leases} is not there and this user may not create it, or may not use it (${error.message}): run the SQL of ` +
      `postgresSchema() as a user that may, and grant this one USAGE of schema ${schema} and all rights to its tables`,
    error,
  )
}

/** Resolves to the first row of the result that `answering` resolves to. */
async function firstRow(answering, names) {
  try {
    const { rows } = await answering
    return rows?.[0]
  } catch (error) {
    throw explained(error, names)
  }
}

/** Implements confirm() of a driver. `query(call)` resolves to the first row of the answer. */
async function confirmBy(query, names, { key, id, maxHold }) {
  const answer = await query(callOf(names.confirm, [rowOf(key), id, maxHold]))
  const isHeld = isTrue(answer.is_held)
  return { state: isHeld ? 'held' : 'over', wanted: isHeld && isTrue(answer.wanted) }
}

module.exports = { callOf, confirmBy, firstRow, isDigest, rowOf }
