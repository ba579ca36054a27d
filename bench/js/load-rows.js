// The cost of loading a package, in a process that has loaded nothing else, not even the rest of
// the bench.
const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')

const loadRows = {
  load: row('`require()`'),
  'load-lock': row('`require()`, and a first lock', 'use'),
}

function row(title, ...args) {
  return {
    title,
    unit: 'ms',
    lines: [
      { field: 'value', title, unit: 'ms' },
      { field: 'bytes', title: `${title}: memory`, unit: 'B' },
    ],
    measure: async (kit) => {
      const command = ['--expose-gc', path.join(__dirname, 'load.js'), kit, ...args]
      const { stdout } = await promisify(execFile)(process.execPath, command)
      return JSON.parse(stdout)
    },
  }
}

module.exports = { loadRows }
