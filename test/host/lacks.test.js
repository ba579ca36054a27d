'use strict'
// What the system refuses is a lack, not a misuse.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const programs = require('../helpers/programs.js')
const { onlyOnPosix } = require('../helpers/skip.js')

describe('A system without random bytes', () => {
  onlyOnPosix()
  let folder
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'lacks-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('is the error of a constructor, which succeeds later', () => {
    const library = path.join(folder, 'no_random.so')
    const source = require.resolve('../helpers/no_random.c')
    const compiler = programs['a clock that tests can set'].find()
    execFileSync(compiler, ['-x', 'c', '-O2', '-shared', '-fPIC', '-o', library, source])
    const code = `
      const { Mutex } = require(${JSON.stringify(path.join(__dirname, '../..'))})
      const options = { scope: 'host', name: 'a', directory: ${JSON.stringify(folder)} }
      const show = []
      process.env.BOXOFFICE_NO_RANDOM = '1'
      try { new Mutex(options) } catch ({ code, message }) { show.push(code, message) }
      delete process.env.BOXOFFICE_NO_RANDOM
      show.push(new Mutex(options).tryLock())
      console.log(JSON.stringify(show))`
    const env = { ...process.env, LD_PRELOAD: library }
    const output = execFileSync(process.execPath, ['-e', code], { env, encoding: 'utf8' })
    assert.deepEqual(JSON.parse(output), [
      'ERR_LOCK_SEGMENT',
      'the mutex "a" of this host: boxoffice: the system gives no random bytes: Function not implemented',
      true,
    ])
  })
})
