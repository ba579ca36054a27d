'use strict'
const assert = require('node:assert/strict')
const { documented } = require('./helpers/guarantees.js')
const { aloneFaults } = require('./helpers/guarantees_alone.js')
const { bodies } = require('./helpers/guarantees_network.js')

describe('The table of guarantees', () => {
  it('has a test for each cell, and a cell for each test', () => {
    const tested = new Set([...aloneFaults, ...Object.values(bodies).flatMap(Object.keys)])
    assert.deepEqual(new Set(documented().keys()), tested)
    for (const [fault, cells] of documented()) {
      for (const [engine, cell] of Object.entries(cells)) {
        const isTested = aloneFaults.includes(fault) || fault in bodies[engine]
        assert.equal(cell !== 'has none', isTested, `${engine}: ${fault}`)
      }
    }
  })
})
