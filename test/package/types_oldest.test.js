'use strict'
// The declarations compile with the oldest TypeScript that the README names, and need no skipLibCheck for it.
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')
const tsc = require.resolve('typescript-4.7/bin/tsc')
const sources = ['test/types/oldest.ts', 'test/types/oldest.mts']

describe('the declarations', function () {
  this.timeout(60_000)

  it('compile with TypeScript 4.7, with neither its library of disposables nor skipLibCheck', () => {
    const lines = ['--noEmit', '--strict', '--esModuleInterop', '--target', 'es2020']
    // AbortSignal is of the DOM or of @types/node, whose newest versions want a newer TypeScript.
    const library = ['--lib', 'es2020,dom', '--module', 'node16', '--typeRoots', 'none']
    const { status, stdout } = spawnSync(
      process.execPath,
      [tsc, ...lines, ...library, ...sources],
      { cwd: root, encoding: 'utf8' },
    )
    assert.equal(stdout, '')
    assert.equal(status, 0)
  })
})
