'use strict'
// The methods of locks that answer at once, or need memory of this process. Over an engine they throw, because only the
// server knows the answer.

/** The advice for each of these methods: what to call instead. */
const instead = {
  tryLock: 'acquire() with { ifAvailable: true }',
  tryAcquire: 'acquire() with { ifAvailable: true }',
  lockSync: 'lock()',
  acquireSync: 'acquire()',
  runExclusiveSync: 'runExclusive()',
  tryAcquireRead: 'acquireRead() with { ifAvailable: true }',
  tryAcquireWrite: 'acquireWrite() with { ifAvailable: true }',
  acquireReadSync: 'acquireRead()',
  acquireWriteSync: 'acquireWrite()',
  tryUpgrade: 'upgrade({ ifAvailable: true })',
  upgradeSync: 'upgrade()',
}
const asynchronous = {
  memory() {
    throw new TypeError(
      `${this.title()} has no buffer, since it lives in an engine: construct it with the same engine and name`,
    )
  },
}
for (const [method, other] of Object.entries(instead)) {
  asynchronous[method] = () => {
    throw new TypeError(`${method}() cannot wait for the answer of an engine: use ${other}`)
  }
}

module.exports = { asynchronous }
