// The works that threads do together, by name: each thread's part, and how their results are
// combined.
const { contend, sumOfContention } = require('./contend.js')
const { handOff, sumOfHandOff } = require('./hand-off.js')

module.exports = {
  works: { contend, handOff },
  summaries: { contend: sumOfContention, handOff: sumOfHandOff },
}
