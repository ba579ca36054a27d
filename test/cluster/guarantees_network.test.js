'use strict'
const { cells } = require('./helpers/guarantees.js')
const { bodies } = require('./helpers/guarantees_network.js')

const connectors = { Redis: 'redis', PostgreSQL: 'postgres', etcd: 'etcd' }

for (const [engine, own] of Object.entries(bodies)) {
  describe(`Guarantees of ${engine} in a network`, function () {
    this.timeout(60_000)
    this.slow(10_000)
    cells(engine, require.resolve(`./helpers/${connectors[engine]}_connect.js`), own)
  })
}
