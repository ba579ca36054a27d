'use strict'
// docs/recipes/leader.md in a process of its own, with a real signal.
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { LeaderElection } = require('../..')
const { read } = require('../helpers/documents.js')
const { root, withoutImports } = require('../helpers/examples.js')
const { run } = require('../helpers/processes.js')

const [, page] = read('docs/recipes/leader.md').match(/^```js\n([\s\S]*?)^```$/m)
const body = `
  process.channel.unref()
  const read = async () => process.send('read')
  const store = async ({ fence }) => process.send('stored by ' + typeof fence)
  async function main() {
    ${withoutImports(page.replace('setInterval(5000,', 'setInterval(5,'))}
  }
  main()`

describe('the recipe for a leader', function () {
  // The test starts a process.
  this.timeout(30_000)

  it('exits on SIGTERM, and the next term is not abandoned', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
    const env = { ...process.env, BOXOFFICE_DIRECTORY: directory }
    const child = fork('-e', [body], { cwd: root, env, execArgv: [] })
    try {
      const exited = once(child, 'exit')
      assert.deepEqual((await once(child, 'message'))[0], 'stored by bigint')
      const election = new LeaderElection({ scope: 'host', name: 'mail', directory })
      const next = election.lead((_signal, { abandoned }) => abandoned)
      child.kill('SIGTERM')
      assert.deepEqual(await exited, [0, null])
      assert.equal(await next, false)
    } finally {
      child.kill('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('needs work that keeps its process alive, or it exits with code 13 and counts as dead', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
    const options = { scope: 'host', name: 'idle', directory }
    const program = `
      import { once } from 'node:events'
      import { LeaderElection } from 'boxoffice'
      const election = new LeaderElection(${JSON.stringify(options)})
      await election.lead(async (signal) => once(signal, 'abort'))`
    try {
      const { code } = await run(['--input-type=module', '-e', program])
      assert.equal(code, 13)
      const election = new LeaderElection(options)
      assert.equal(await election.lead((_signal, { abandoned }) => abandoned), true)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
