'use strict'
// The server sends each value as text, and pg passes it to the parser of its type. A program may
// replace any parser for the whole process (`pg.types.setTypeParser`), a pool (`types`) or a
// client. So the engine's commands bring their own parsers.

/** The option `types` of a client or a command. */
const asText = { getTypeParser: () => String }

/** A boolean is `t` or `f`; one that a command casts to text is `true` or `false`. */
const isTrue = (text) => text.startsWith('t')

module.exports = { asText, isTrue }
