'use strict'
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const boxoffice = require('..')

const root = path.join(__dirname, '..')
const expected = ['mutex true', 'mutex false', 'keys 2', 'keys 0', 'semaphore 1 1']

describe('using', () => {
  it('lets go at the end of the block, as TypeScript compiles it', async function () {
    this.timeout(60_000)
    const out = path.join(root, 'build', 'using')
    const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const options = [
      '--ignoreConfig',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--outDir',
      out,
    ]
    const types = ['--rootDir', '.', '--lib', 'esnext', '--types', 'node']
    execFileSync(process.execPath, [tsc, ...options, ...types, 'test/types/using.ts'], {
      cwd: root,
      stdio: 'inherit',
    })
    const { useThem } = require(path.join(out, 'test', 'types', 'using.js'))
    assert.deepEqual(await useThem(), expected)
  })

  const isNative = parseInt(process.versions.node, 10) >= 24
  if (isNative) {
    it('lets go at the end of the block, as it is', async () => {
      const run = new Function(
        'boxoffice',
        `return (async () => {
          const mutex = new boxoffice.Mutex()
          {
            using _ = await mutex.acquire()
            if (!mutex.isLocked()) return 'not locked'
          }
          {
            await using _ = await mutex.acquire()
            if (!mutex.isLocked()) return 'not locked'
          }
          return mutex.isLocked()
        })()`,
      )
      assert.equal(await run(boxoffice), false)
    })
  }
})
