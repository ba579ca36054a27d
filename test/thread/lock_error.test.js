'use strict'
const assert = require('node:assert/strict')
const vm = require('node:vm')
const { E_TIMEOUT, isLockError, LockManager, Mutex, Semaphore } = require('../..')

const reasonOf = (promise) => promise.then(assert.fail, (reason) => reason)

describe('isLockError', () => {
  it('is true for errors of the package', async () => {
    const mutex = new Mutex()
    const release = await mutex.acquire()
    assert.ok(isLockError(await reasonOf(mutex.acquire({ timeout: 0 }))))
    const reason = reasonOf(mutex.acquire())
    mutex.cancel()
    assert.ok(isLockError(await reason))
    release()
    assert.ok(isLockError(E_TIMEOUT))
  })

  it('is true for an error of a constructor', () => {
    const { buffer } = new Semaphore(1, { shared: true })
    const wrong = () => new Semaphore(2, { buffer })
    assert.throws(wrong, (error) => isLockError(error) && error.code === 'ERR_LOCK_MISMATCH')
  })

  it('is true for an error of another realm', () => {
    const code = "Object.assign(new RangeError('too many'), { code: 'ERR_LOCK_RANGE' })"
    assert.ok(isLockError(vm.runInNewContext(code)))
  })

  it('is false for bad arguments, for reasons of signals, and for DOMExceptions', async () => {
    const mutex = new Mutex()
    assert.throws(
      () => mutex.acquire({ timeout: -1 }),
      (error) => !isLockError(error),
    )
    const aborted = reasonOf(mutex.acquire({ signal: AbortSignal.abort() }))
    assert.equal(isLockError(await aborted), false)
    const refused = reasonOf(new LockManager().request('-', () => {}))
    assert.equal(isLockError(await refused), false)
  })

  it('is false for other errors, and for values that are no errors', () => {
    const others = [new Error('busy'), Object.assign(new Error(), { code: 'ERR_HTTP' })]
    others.push(Object.assign(new Error(), { code: 7 }), { code: 'ERR_LOCK_TIMEOUT' })
    others.push(undefined, null, 'ERR_LOCK_TIMEOUT', () => {}, Object.create(null))
    for (const other of others) assert.equal(isLockError(other), false)
  })
})
