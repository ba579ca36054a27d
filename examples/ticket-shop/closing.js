'use strict'

const integer = new Intl.NumberFormat('en-US')
const number = (many, one) => `${integer.format(many)} ${many === 1 ? one : `${one}s`}`

/** What a row shows, as a sentence. */
function sentenceOf({ title, processes, doubles, people, kills, guarded }) {
  const where = processes === 1 ? 'one process' : `${processes} processes`
  const shop = `With ${title} in ${where}`
  if (!guarded) return `${shop}, the shop sold ${number(doubles, 'double ticket')}.`
  const killed = kills === 1 ? 'one process was' : `${kills} processes were`
  const despite = kills === 0 ? '' : `, although ${killed} killed`
  return `${shop}, each of ${number(people, 'user')} has exactly one ticket${despite}.`
}

/** The text below the table: what its rows show. */
module.exports = function closing(rows) {
  return rows.map(sentenceOf).join('\n')
}
