'use strict'

/** A list of functions that end what a test has begun. They run after the test, the last one first. */
function useEnds() {
  const ends = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  return ends
}

module.exports = { useEnds }
