'use strict'
// What the system refuses is a lack, not a misuse.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const programs = require('../helpers/programs.js')
const { onlyOnPosix } = require('../helpers/skip.js')

describe('A system that refuses what scope host needs', () => {
  onlyOnPosix()
  let folder
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'lacks-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /**
   * Returns the code and the message that a constructor throws, the names of the unfinished files that it leaves, and
   * whether a mutex can be locked afterwards. System calls are those of `source` while the environment has `variable`.
   */
  function withSystemOf(source, variable) {
    const library = path.join(folder, 'system.so')
    const compiler = programs['a clock that tests can set'].find()
    const file = require.resolve(`../helpers/${source}`)
    execFileSync(compiler, ['-x', 'c', '-O2', '-shared', '-fPIC', '-o', library, file])
    const code = `
      const { Mutex } = require(${JSON.stringify(path.join(__dirname, '../..'))})
      const options = { scope: 'host', name: 'a', directory: ${JSON.stringify(folder)} }
      const show = []
      process.env.${variable} = '1'
      try { new Mutex(options) } catch ({ code, message }) { show.push(code, message) }
      const files = require('node:fs').readdirSync(options.directory, { recursive: true })
      show.push(...files.filter((file) => file.includes('new-')))
      delete process.env.${variable}
      show.push(new Mutex(options).tryLock())
      console.log(JSON.stringify(show))`
    const env = { ...process.env, LD_PRELOAD: library }
    return JSON.parse(execFileSync(process.execPath, ['-e', code], { env, encoding: 'utf8' }))
  }

  it('makes a constructor throw for want of random bytes, and later no more', () => {
    assert.deepEqual(withSystemOf('no_random.c', 'BOXOFFICE_NO_RANDOM'), [
      'ERR_LOCK_SEGMENT',
      'the mutex "a" of this host: boxoffice: the system gives no random bytes: Function not implemented',
      true,
    ])
  })

  it('makes a constructor throw for a directory on a network file system, and later no more', () => {
    assert.deepEqual(withSystemOf('remote_disk.c', 'BOXOFFICE_REMOTE_DISK'), [
      'ERR_LOCK_UNSUPPORTED',
      `the mutex "a" of this host: boxoffice: ${folder} lies on a file system that is reached over a network or another program, which cannot hold locks of scope host; choose a local directory, give the locks an engine, or, where one process is all there is, as in development, use scope: 'process'`,
      true,
    ])
  })

  it('makes a constructor throw where files cannot be renamed without replacing others, and leaves none', () => {
    const [code, message, ...rest] = withSystemOf('no_rename.c', 'BOXOFFICE_NO_RENAME')
    assert.equal(code, 'ERR_LOCK_SEGMENT')
    assert.match(
      message,
      /^the mutex "a" of this host: .*members lies on a file system that cannot rename files without replacing others, as ZFS before 2\.2; choose another directory$/,
    )
    assert.deepEqual(rest, [true])
  })
})
