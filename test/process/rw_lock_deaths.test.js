'use strict'
// Workers that end while they read, write, upgrade or downgrade. Their reads are over, and the next
// grant reports a dead writer, and nothing else.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { RWLock } = require('../..')
const { freshName, sleep } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { scaled } = require('../helpers/scale.js')

/** Longer than a waiter may be overtaken: from then on the lock is handed to the head of the queue. */
const patience = 10
const times = scaled(25, 2)
const body = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { RWLock } = require(${JSON.stringify(require.resolve('../..'))})
  const lock = new RWLock({ name: workerData.name })
  const say = () => parentPort.postMessage('ready')
  const stay = () => { say(); setInterval(() => {}, 1000) }
  /** From here on the event loop does not turn: completions arrive, and are not read. */
  const stall = () => { say(); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) }
  eval('(async () => {' + workerData.code + '})()')`

async function start(name, code) {
  const worker = new Worker(body, { eval: true, workerData: { name, code } })
  await once(worker, 'message')
  return worker
}

// By name: `code` of the worker that dies, while this thread already holds the lock for `first`
// ('Read' or 'Write') and runs `before(first)`. Then whether the next grant is abandoned, and how
// many reads the worker has when it dies.
const deaths = {
  'reads, once and several times': {
    code: 'lock.acquireReadSync(); await lock.acquireRead(); lock.tryAcquireRead(); stay()',
    reads: 3,
  },
  'has stopped reading': {
    code: 'lock.acquireReadSync()(); (await lock.acquireRead())(); stay()',
  },
  'reads after it has downgraded': {
    code: 'lock.acquireWriteSync().downgrade(); stay()',
    reads: 1,
  },
  writes: { code: 'await lock.acquireWrite(); stay()', abandoned: true },
  'writes, in an endless loop': {
    code: 'lock.acquireWriteSync(); say(); for (;;);',
    abandoned: true,
  },
  'has upgraded': { code: 'await (await lock.acquireRead()).upgrade(); stay()', abandoned: true },
  'has upgraded, blocking': {
    code: 'lock.acquireReadSync().upgradeSync(); stay()',
    abandoned: true,
  },
  'upgrades, while others read': {
    first: 'Read',
    code: 'lock.acquireReadSync().upgrade(); stay()',
    reads: 1,
  },
  'upgrades, while it reads twice': {
    first: 'Read',
    code: 'lock.acquireReadSync(); lock.acquireReadSync().upgrade(); stay()',
    reads: 2,
  },
  'upgrades, blocking, while others read': {
    first: 'Read',
    code: 'const reader = lock.acquireReadSync(); say(); reader.upgradeSync()',
    reads: 1,
  },
  'is granted its upgrade, and has not read that': {
    first: 'Read',
    code: 'lock.acquireReadSync().upgrade(); stall()',
    before: (first) => first(),
  },
  'may be granted its upgrade, blocking': {
    first: 'Read',
    code: 'const reader = lock.acquireReadSync(); say(); reader.upgradeSync(); for (;;);',
    before: (first) => setImmediate(first),
    abandoned: null,
  },
  'waits to read and to write': {
    first: 'Write',
    code: 'for (let i = 0; i < 5; i++) { lock.acquireRead(); lock.acquireWrite() } stay()',
  },
  'is blocked, to read': { first: 'Write', code: 'say(); lock.acquireReadSync(); stay()' },
  'is blocked, to write': { first: 'Write', code: 'say(); lock.acquireWriteSync(); stay()' },
  'is granted reads, and has not read that': {
    first: 'Write',
    code: 'for (let i = 0; i < 5; i++) lock.acquireRead(); stall()',
    before: (first) => sleep(patience).then(first),
  },
  'is granted a write, and has not read that': {
    first: 'Write',
    code: 'lock.acquireWrite(); lock.acquireRead(); stall()',
    before: (first) => sleep(patience).then(first),
  },
  'is invited, and has not read that': {
    first: 'Write',
    code: 'lock.acquireWrite(); lock.acquireRead(); stall()',
    before: (first) => first(),
  },
}

async function die({ first, code, before, reads = 0, abandoned = false }, variant) {
  const name = freshName()
  const lock = new RWLock({ name })
  const held = first && (await lock[`acquire${first}`]())
  const worker = await start(name, code)
  await before?.(held)
  if (reads > 0) assert.equal(lock.readers, reads + (first === 'Read' ? 1 : 0))
  const mode = ['Read', 'Write'][variant % 2]
  const isEarly = variant % 4 < 2
  const early = isEarly ? lock[`acquire${mode}`]() : undefined
  await worker.terminate()
  if (first === 'Read' && before === undefined) {
    assert.equal(lock.readers, isEarly && mode === 'Read' ? 2 : 1, 'its reads are over')
  }
  held?.()
  const next = await (early ?? lock[`acquire${mode}`]())
  if (abandoned !== null) assert.equal(next.abandoned, abandoned)
  assert.deepEqual([lock.readers, lock.isWriteLocked()], mode === 'Read' ? [1, false] : [0, true])
  next()
  const last = lock.tryAcquireWrite()
  assert.equal(last.abandoned, false, 'it is told once')
  last()
  assert.equal(lock.isLocked(), false)
}

describe('a worker that ends while it', function () {
  this.timeout(120_000)
  for (const [name, death] of Object.entries(deaths)) {
    it(`${name}, ${times} times`, async () => {
      let begun = 0
      const slot = async () => {
        while (begun < times) await die(death, begun++)
      }
      await Promise.all([slot(), slot(), slot()])
    })
  }
})

describe('a worker that had a lock before it shared the lock', () => {
  for (const [held, reads, abandoned] of [
    ['own.tryAcquireRead(); await own.acquireRead()', 2, false],
    ['await own.acquireWrite()', 0, true],
    ['(await own.acquireRead()).upgrade()', 0, true],
    ['own.tryAcquireWrite().downgrade()', 1, false],
  ]) {
    it(`by ${held}, gives it back when it ends`, async () => {
      const code = `const own = new RWLock({ shared: true }); ${held}; parentPort.postMessage(own.buffer); setInterval(() => {}, 1000)`
      const worker = new Worker(body, { eval: true, workerData: { name: freshName(), code } })
      const [buffer] = await once(worker, 'message')
      const lock = new RWLock({ buffer })
      assert.deepEqual([lock.readers, lock.isLocked()], [reads, true])
      const waiting = lock.acquireWrite()
      await worker.terminate()
      const writer = await waiting
      assert.equal(writer.abandoned, abandoned)
      writer()
    })
  }
})

describe('a lock whose holder has dropped its releaser', () => {
  it('is held until the holder ends, and is then given back', async () => {
    const code = `
      const { once } = require('node:events')
      const { RWLock } = require(entry)
      const body = \`
        const { RWLock } = require(\${JSON.stringify(entry)})
        const forget = (name, way) => new RWLock({ name })[way]()
        async function main() {
          forget('read', 'tryAcquireRead')
          forget('written', 'tryAcquireWrite')
          for (let i = 0; i < 5; i++) { gc(); await new Promise(setImmediate) }
          const again = [new RWLock({ name: 'read' }), new RWLock({ name: 'written' })]
          const codes = again.map((lock) => {
            try { lock.acquireWriteSync() } catch ({ code }) { return code }
          })
          require('node:worker_threads').parentPort.postMessage(codes)
          setInterval(() => {}, 1000)
        }
        main()\`
      const worker = new Worker(body, { eval: true })
      const ended = once(worker, 'exit')
      show((await once(worker, 'message'))[0])
      const [read, written] = ['read', 'written'].map((name) => new RWLock({ name }))
      show([read.readers, written.isWriteLocked()])
      const waiting = [read.acquireWrite(), written.acquireRead()]
      worker.terminate()
      await ended
      show((await Promise.all(waiting)).map(({ abandoned }) => abandoned))`
    const deadlock = 'ERR_LOCK_DEADLOCK'
    const expected = [
      [deadlock, deadlock],
      [1, true],
      [false, true],
    ]
    assert.deepEqual(await inChild(code, '--expose-gc'), expected)
  })
})

describe('the report that a writer has died', () => {
  let name
  let lock
  beforeEach(() => {
    name = freshName()
    lock = new RWLock({ name, allowBlockingMainThread: true })
  })

  for (const mode of ['Read', 'Write']) {
    it(`is passed on by a waiter that dies before it reads the report (${mode})`, async () => {
      const dying = await start(name, 'lock.acquireWriteSync(); stay()')
      const heir = await start(name, `lock.acquire${mode}(); stall()`)
      await sleep(patience)
      await dying.terminate()
      const next = lock.acquireRead()
      await heir.terminate()
      const release = await next
      // Two readers enter together: the first of them was to be told.
      if (mode === 'Write') assert.equal(release.abandoned, true)
      release()
      const last = lock.tryAcquireWrite()
      assert.equal(last.abandoned, mode === 'Read')
      last()
    })
  }

  /**
   * This thread reads; the grant that was to report a writer's death belonged to a worker that has
   * died, too.
   */
  async function readerBeside() {
    const dying = await start(name, 'lock.acquireWriteSync(); stay()')
    const heir = await start(name, 'lock.acquireRead(); stall()')
    const waiting = lock.acquireRead()
    await sleep(patience)
    await dying.terminate()
    const reader = await waiting
    assert.deepEqual([reader.abandoned, lock.readers], [false, 2])
    return { heir, reader }
  }

  for (const way of ['upgrade', 'tryUpgrade', 'upgradeSync']) {
    it(`reaches a reader that becomes the writer by ${way}`, async () => {
      const { heir, reader } = await readerBeside()
      await heir.terminate()
      const writer = await reader[way]()
      assert.equal(writer.abandoned, true)
      writer()
      assert.equal((await lock.acquireRead()).abandoned, false)
    })
  }

  it('reaches a reader that waits to upgrade', async () => {
    const { heir, reader } = await readerBeside()
    const upgrading = reader.upgrade()
    await heir.terminate()
    assert.equal((await upgrading).abandoned, true)
  })

  it('is passed on by an upgrade that was to report it, when its read is over', async () => {
    const { heir, reader } = await readerBeside()
    const upgrader = await start(name, 'lock.acquireReadSync().upgrade(); stall()')
    await heir.terminate()
    reader()
    assert.ok(lock.isWriteLocked())
    const waiting = [lock.acquireRead(), lock.acquireRead()]
    await upgrader.terminate()
    const [one, two] = await Promise.all(waiting)
    assert.deepEqual([one.abandoned, two.abandoned, lock.readers], [true, false, 2])
    one()
    two()
    assert.equal(lock.isLocked(), false)
  })
})
