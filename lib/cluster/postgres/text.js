'use strict'
// The server sends each value as text, and pg passes it to the parser of its type. A program may replace any parser for
// the whole process (`pg.types.setTypeParser`), a pool (`types`) or a client. So the engine's commands bring their own.

/** The option `types` of a client or a command. */
const asText = { getTypeParser: () => String }

/** Whether `text` stands for true. The server writes `t`, or if the command casts the boolean to text, `true`. */
const isTrue = (text) => text.startsWith('t')

module.exports = { asText, isTrue }
