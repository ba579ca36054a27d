'use strict'
const assert = require('node:assert/strict')
const { E_CANCELED, Semaphore } = require('../..')
const { kinds } = require('../helpers/kinds.js')
const { describeQueue } = require('../helpers/queue_suite.js')
const { note, turn } = require('../helpers/promises.js')
const { describeRun } = require('../helpers/run_suite.js')
const { useWarnings } = require('../helpers/warnings.js')

const [, kind] = kinds

describeQueue(kind)
describeRun(kind, 'runExclusive')
describeRun(kind, 'executeLocked')

/** Acquires, and records `name` and the value it found. */
function acquire(log, name, semaphore, ...args) {
  return semaphore.acquire(...args).then(([value, release]) => {
    log.push(`${name} ${value}`)
    return release
  })
}

describe('Semaphore: its value', () => {
  useWarnings('BOXOFFICE_TOO_MANY_UNITS')

  it('is given as it was before the weight is taken', async () => {
    const semaphore = new Semaphore(5)
    const [first] = await semaphore.acquire()
    const [second, release] = await semaphore.acquire(3)
    assert.deepEqual([first, second, semaphore.getValue()], [5, 4, 1])
    assert.equal(await semaphore.runExclusive((value) => value), 1)
    assert.equal(await semaphore.executeLocked((value) => value), 1)
    assert.deepEqual(semaphore.tryAcquire()[0], 1)
    release()
    assert.equal(semaphore.getValue(), 3)
    assert.deepEqual(
      await semaphore.runExclusive((value) => [value, semaphore.getValue()], 2),
      [3, 1],
    )
  })

  it('changes before acquire and release return', async () => {
    const semaphore = new Semaphore(3)
    const promise = semaphore.acquire({ weight: 2 })
    assert.equal(semaphore.getValue(), 1)
    const [, release] = await promise
    assert.equal(release(), undefined)
    assert.equal(semaphore.getValue(), 3)
    assert.equal(semaphore.release(), undefined)
    assert.equal(semaphore.release(4), undefined)
    assert.equal(semaphore.getValue(), 8)
  })

  it('is locked at 0 and below', () => {
    for (const value of [-3, -1, 0]) assert.equal(new Semaphore(value).isLocked(), true)
    for (const value of [1, 7]) assert.equal(new Semaphore(value).isLocked(), false)
  })

  it('is reduced by all methods with a weight', async () => {
    const semaphore = new Semaphore(20)
    const values = []
    const weigh = () => values.push(semaphore.getValue())
    await semaphore.acquire(2)
    weigh()
    await semaphore.acquire({ weight: 3 })
    weigh()
    await semaphore.runExclusive(weigh, 4)
    await semaphore.runExclusive(weigh, { weight: 5 })
    await semaphore.executeLocked(weigh, 6, { priority: 1 })
    semaphore.tryAcquire(7)
    weigh()
    assert.deepEqual(values, [18, 15, 11, 10, 9, 8])
  })

  it('is what each of several waiters admitted at once finds', async () => {
    const semaphore = new Semaphore(-1)
    const log = []
    acquire(log, 'a', semaphore, 2)
    acquire(log, 'b', semaphore)
    acquire(log, 'c', semaphore, 3)
    acquire(log, 'd', semaphore)
    assert.equal(semaphore.setValue(6), undefined)
    assert.equal(semaphore.getValue(), 0)
    await turn()
    assert.deepEqual(log, ['a 6', 'b 4', 'c 3'])
    semaphore.release(2)
    await turn()
    assert.deepEqual(log.slice(3), ['d 2'])
    assert.equal(semaphore.getValue(), 1)
  })

  it('admits 5,000 at once in order', async () => {
    const semaphore = new Semaphore(0)
    const log = []
    for (let i = 0; i < 5000; i++) semaphore.acquire().then(([value]) => log.push(value))
    semaphore.setValue(5001)
    assert.equal(semaphore.getValue(), 1)
    await turn()
    const values = Array.from({ length: 5000 }, (_, i) => 5001 - i)
    assert.deepEqual(log, values)
  })

  it('can be set while callers hold units, which they put back later', async () => {
    const semaphore = new Semaphore(2)
    const [, release] = await semaphore.acquire(2)
    semaphore.setValue(-4)
    release()
    assert.equal(semaphore.getValue(), -2)
    semaphore.setValue(0)
    release()
    assert.equal(semaphore.getValue(), 0)
  })
})

describe('Semaphore: weights and priorities', () => {
  useWarnings('BOXOFFICE_TOO_MANY_UNITS')

  it('lets the head of the queue block lighter waiters of its own and lower priority', async () => {
    const semaphore = new Semaphore(2)
    const log = []
    acquire(log, 'heavy', semaphore, 3)
    acquire(log, 'light', semaphore, 1)
    acquire(log, 'lower', semaphore, 1, -1)
    assert.equal(semaphore.tryAcquire(), undefined)
    acquire(log, 'higher', semaphore, 1, 1)
    await turn()
    assert.deepEqual(log, ['higher 2'])
    assert.equal(semaphore.getValue(), 1)
    semaphore.release()
    await turn()
    assert.deepEqual(log, ['higher 2'])
    semaphore.release(2)
    await turn()
    assert.deepEqual(log, ['higher 2', 'heavy 4', 'light 1'])
    semaphore.release()
    await turn()
    assert.equal(log[3], 'lower 1')
  })

  it('lets a heavy waiter of higher priority block all others', async () => {
    const semaphore = new Semaphore(1)
    const log = []
    acquire(log, 'heavy', semaphore, 2, 5)
    acquire(log, 'light', semaphore, 1, 4)
    acquire(log, 'equal', semaphore, { weight: 1, priority: 5 })
    acquire(log, 'heavier', semaphore, 3, { priority: 6 })
    await turn()
    assert.deepEqual(log, [])
    semaphore.release(2)
    await turn()
    assert.deepEqual(log, ['heavier 3'])
    semaphore.release(4)
    await turn()
    assert.deepEqual(log.slice(1), ['heavy 4', 'equal 2', 'light 1'])
  })

  it('admits as many as fit, and no more', async () => {
    const semaphore = new Semaphore(3)
    let inside = 0
    let most = 0
    const all = Array.from({ length: 50 }, (_, i) =>
      semaphore.runExclusive(
        async () => {
          inside += (i % 3) + 1
          most = Math.max(most, inside)
          await turn()
          inside -= (i % 3) + 1
        },
        (i % 3) + 1,
      ),
    )
    await Promise.all(all)
    assert.equal(most, 3)
    assert.equal(semaphore.getValue(), 3)
  })

  it('gives back the weight that was taken, once', async () => {
    const semaphore = new Semaphore(5)
    const [, release] = await semaphore.acquire(3)
    for (const use of [release, release.release, () => release[Symbol.dispose]()]) use()
    await release[Symbol.asyncDispose]()
    assert.equal(semaphore.getValue(), 5)
    assert.equal(release.abandoned, false)
    for (const name of ['release', Symbol.dispose, Symbol.asyncDispose]) {
      const [, releaser] = semaphore.tryAcquire(2)
      releaser[name]()
      assert.equal(semaphore.getValue(), 5)
    }
  })

  it("gives back a releaser's units after release() and cancel()", async () => {
    const semaphore = new Semaphore(1)
    const [, release] = await semaphore.acquire()
    semaphore.release()
    semaphore.cancel()
    release()
    assert.equal(semaphore.getValue(), 2)
  })
})

describe('Semaphore: waitForUnlock', () => {
  useWarnings('BOXOFFICE_TOO_MANY_UNITS')

  it('resolves at once when its weight is available, and takes nothing', async () => {
    const semaphore = new Semaphore(2)
    assert.equal(await semaphore.waitForUnlock(), undefined)
    await semaphore.waitForUnlock(2)
    await semaphore.waitForUnlock({ weight: 2, priority: -1 })
    assert.equal(semaphore.getValue(), 2)
  })

  it('resolves once its weight is available', async () => {
    const semaphore = new Semaphore(1)
    const log = []
    for (const weight of [3, 2, 4]) note(log, weight, semaphore.waitForUnlock(weight))
    semaphore.release()
    await turn()
    assert.deepEqual(log, [2])
    semaphore.setValue(4)
    await turn()
    assert.deepEqual(log, [2, 4, 3])
  })

  it('waits for queued waiters of its priority or a higher one', async () => {
    const semaphore = new Semaphore(1)
    const log = []
    acquire(log, 'acquire', semaphore, 2, 1)
    note(log, 'equal', semaphore.waitForUnlock(1, 1))
    note(log, 'higher', semaphore.waitForUnlock(1, 2))
    note(log, 'heavy', semaphore.waitForUnlock(2, 2))
    await turn()
    assert.deepEqual(log, ['higher'])
    semaphore.release()
    await turn()
    assert.deepEqual(log, ['higher', 'heavy', 'acquire 2'])
    semaphore.release()
    await turn()
    assert.deepEqual(log.slice(3), ['equal'])
  })

  it('sees the value between two admissions', async () => {
    const semaphore = new Semaphore(0)
    const log = []
    acquire(log, 'first', semaphore, 1, 2)
    acquire(log, 'second', semaphore, 1, 0)
    note(log, 'two', semaphore.waitForUnlock(2, 1))
    note(log, 'one', semaphore.waitForUnlock(1, 1))
    semaphore.release(2)
    await turn()
    assert.deepEqual(log, ['first 2', 'one', 'second 1'])
    assert.equal(semaphore.getValue(), 0)
  })

  it('cancels every waiter, however many, before it admits one behind a heavy waiter', async () => {
    const semaphore = new Semaphore(1)
    const waiting = []
    for (let i = 0; i < 3000; i++) waiting.push(semaphore.acquire(i < 2048 ? 2 : 1))
    semaphore.cancel()
    const ended = await Promise.allSettled(waiting)
    assert.ok(ended.every(({ reason }) => reason === E_CANCELED))
    assert.equal(semaphore.getValue(), 1)
  })

  it('keeps a releaser whose units have no room usable', async () => {
    const most = 2 ** 29 - 1
    const semaphore = new Semaphore(most)
    const [, release] = await semaphore.acquire(2)
    semaphore.release(1)
    assert.throws(release, { code: 'ERR_LOCK_RANGE' })
    assert.equal(semaphore.getValue(), most - 1)
    assert.ok(semaphore.tryAcquire(1))
    release()
    assert.equal(semaphore.getValue(), most)
  })
})
