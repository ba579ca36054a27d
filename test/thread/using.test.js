'use strict'
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const boxoffice = require('../..')

const root = path.join(__dirname, '..', '..')
const expected = [
  'mutex true',
  'mutex false',
  'keys 2',
  'keys 0',
  'semaphore 1 1',
  'ticket 1 0',
  'ticket 1',
  'tickets 2,2',
]

describe('using', () => {
  it('releases at the end of the block, as TypeScript compiles it', async function () {
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

  it("takes the arrays that a semaphore's acquiring methods return", async () => {
    const sole = new boxoffice.Semaphore(2)
    const keyed = new boxoffice.KeyedSemaphore(2)
    const ways = {
      acquire: () => sole.acquire(),
      'acquire in line': async () => {
        const [, release] = await sole.acquire(2)
        const waiting = sole.acquire()
        release()
        return waiting
      },
      tryAcquire: () => sole.tryAcquire(),
      acquireSync: () =>
        new boxoffice.Semaphore(2, { allowBlockingMainThread: true }).acquireSync(),
      withTimeout: () => boxoffice.withTimeout(sole, 1000).acquire(),
      'a key': () => keyed.acquire('a'),
      'several keys': () => keyed.acquire(['a', 'b']),
      'several keys now': () => keyed.tryAcquire(['a', 'b']),
    }
    for (const [way, take] of Object.entries(ways)) {
      for (const dispose of [Symbol.dispose, Symbol.asyncDispose]) {
        const ticket = await take()
        assert.ok(Array.isArray(ticket), way)
        assert.equal(Object.getPrototypeOf(ticket), Array.prototype, way)
        assert.equal(ticket.length, 2, way)
        const done = ticket[dispose]()
        if (dispose === Symbol.asyncDispose) await done
        assert.equal(sole.getValue(), 2, way)
        assert.equal(keyed.size, 0, way)
      }
    }
  })

  const isNative = parseInt(process.versions.node, 10) >= 24
  if (isNative) {
    it('releases at the end of the block, natively', async () => {
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
