'use strict'
// The calls of the functions in the database, for the driver and for the renewing thread.
const { createHash } = require('node:crypto')
const { isTrue } = require('./text.js')

/** An index has no room for longer keys. */
const longestKey = 500
const digestMark = 'sha256:'

/**
 * The key as stored in the table: the key itself, if every database encoding has all its letters
 * and an index has room for it; otherwise its digest. A key never looks like a digest of another.
 */
function rowOf(key) {
  const isPlain = /^[\x20-\x7e]*$/.test(key)
  if (isPlain && key.length <= longestKey && !isDigest(key)) return key
  // Not UTF-8, which maps all unpaired surrogates to one character.
  return digestMark + createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')
}

const isDigest = (row) => row.startsWith(digestMark)

/** The call of the database function `name`. */
function callOf(name, values) {
  const places = values.map((_, i) => `$${i + 1}`)
  return { name, text: `SELECT * FROM ${name}(${places})`, values }
}

/** confirm() of a driver. `query(call)` resolves to the first row of the answer. */
async function confirmBy(query, names, { key, id, maxHold }) {
  const answer = await query(callOf(names.confirm, [rowOf(key), id, maxHold]))
  const isHeld = isTrue(answer.is_held)
  return { state: isHeld ? 'held' : 'over', wanted: isHeld && isTrue(answer.wanted) }
}

module.exports = { callOf, confirmBy, isDigest, rowOf }
