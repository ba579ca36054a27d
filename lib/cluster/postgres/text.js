'use strict'
// The server sends each value as text, and pg gives it to the parser of its type. A program may replace any parser for
// the whole process (`pg.types.setTypeParser`), for a pool (`types`) or for a client. So commands of ours bring their own.

/** For the option `types` of a client or of a command. */
const asText = { getTypeParser: () => String }

/** A boolean is `t` or `f`; one that a command casts to text is `true` or `false`. */
const isTrue = (text) => text.startsWith('t')

module.exports = { asText, isTrue }
