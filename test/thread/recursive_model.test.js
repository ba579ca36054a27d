'use strict'
// Random trees of tasks that enter a RecursiveMutex, checked against its invariants.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { RecursiveMutex } = require('../..')
const { forest, Player } = require('../helpers/recursive_model.js')
const { scaled } = require('../helpers/scale.js')

describe('RecursiveMutex, against a model', function () {
  this.timeout(120_000)

  for (const shared of [false, true]) {
    it(`admits nested callers, and no others: shared ${shared}`, async () => {
      let entries = 0
      const play = async (trees) => {
        const mutex = new RecursiveMutex({ shared, allowBlockingMainThread: true })
        const player = new Player(mutex)
        await player.play(trees)
        entries += player.entries
        assert.equal(mutex.isLocked(), false)
        assert.equal(mutex.isHeld(), false)
      }
      const numRuns = scaled(3000, 1000)
      await fc.assert(fc.asyncProperty(forest, play), { numRuns })
      assert.ok(entries > numRuns, `${entries} entries are too few to tell`)
    })
  }
})
