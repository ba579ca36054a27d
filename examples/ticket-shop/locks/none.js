'use strict'

/** No lock, as in most servers. Most of the time it works. */
module.exports = () => ({
  runExclusive: (_user, work) => work(),
  held: () => [],
})
