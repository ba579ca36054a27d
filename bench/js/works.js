// The works that threads do together, by name: each thread's part, and what their results add up to.
const { contend, sumOfContention } = require('./contend.js')
const { handOff, sumOfHandOff } = require('./hand-off.js')

module.exports = {
  works: { contend, handOff },
  summaries: { contend: sumOfContention, handOff: sumOfHandOff },
}
