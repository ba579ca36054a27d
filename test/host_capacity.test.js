'use strict'
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedRWLock, KeyedSemaphore } = require('..')
const { freshName } = require('./helpers/agents.js')
const { useHosts } = require('./helpers/hosts.js')

/** The slots of the one bucket that a table of the smallest capacities has. */
const slots = 64

describe('Capacity of keyed locks of scope host', function () {
  // Processes are started, and a process may get no processor for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const optionsOf = (name) => ({ scope: 'host', name, directory: hosts.directory, capacity: 16 })

  /** What every class calls: a key by itself, and several keys by each form. */
  const classes = {
    KeyedMutex: {
      make: (options) => new KeyedMutex(options),
      forms: {
        tryAcquire: (locks, keys) => locks.tryAcquire(keys),
        acquire: (locks, keys) => locks.acquire(keys),
        acquireSync: (locks, keys) => locks.acquireSync(keys),
        runExclusive: (locks, keys) => locks.runExclusive(keys, () => {}),
        runExclusiveSync: (locks, keys) => locks.runExclusiveSync(keys, () => {}),
      },
      one: (locks, key) => locks.tryAcquire(key),
    },
    'KeyedRWLock, to read': {
      make: (options) => new KeyedRWLock(options),
      forms: {
        tryAcquireRead: (locks, keys) => locks.tryAcquireRead(keys),
        acquireRead: (locks, keys) => locks.acquireRead(keys),
        acquireReadSync: (locks, keys) => locks.acquireReadSync(keys),
        runShared: (locks, keys) => locks.runShared(keys, () => {}),
        runSharedSync: (locks, keys) => locks.runSharedSync(keys, () => {}),
      },
      one: (locks, key) => locks.tryAcquireRead(key),
    },
    'KeyedRWLock, to write': {
      make: (options) => new KeyedRWLock(options),
      forms: {
        tryAcquireWrite: (locks, keys) => locks.tryAcquireWrite(keys),
        acquireWrite: (locks, keys) => locks.acquireWrite(keys),
        acquireWriteSync: (locks, keys) => locks.acquireWriteSync(keys),
        runExclusive: (locks, keys) => locks.runExclusive(keys, () => {}),
        runExclusiveSync: (locks, keys) => locks.runExclusiveSync(keys, () => {}),
      },
      one: (locks, key) => locks.tryAcquireWrite(key),
    },
    KeyedSemaphore: {
      make: (options) => new KeyedSemaphore(2, options),
      forms: {
        tryAcquire: (locks, keys) => locks.tryAcquire(keys),
        acquire: (locks, keys) => locks.acquire(keys),
        acquireSync: (locks, keys) => locks.acquireSync(keys),
        runExclusive: (locks, keys) => locks.runExclusive(keys, () => {}),
        runExclusiveSync: (locks, keys) => locks.runExclusiveSync(keys, () => {}),
      },
      one: (locks, key) => locks.tryAcquire(key, 2)?.[1],
    },
  }

  for (const [title, { make, forms, one }] of Object.entries(classes)) {
    for (const [form, take] of Object.entries(forms)) {
      it(`${title}: ${form} of several keys takes none when one of them has no room`, async () => {
        const locks = make({ ...optionsOf(freshName()), allowBlockingMainThread: true })
        const held = Array.from({ length: slots - 2 }, (_, i) => one(locks, `held ${i}`))
        await assert.rejects(async () => take(locks, ['a', 'b', 'c']), {
          code: 'ERR_LOCK_CAPACITY',
        })
        assert.equal(locks.size, held.length)
        for (const key of ['a', 'b']) one(locks, key)()
        for (const release of held) release()
        await take(locks, ['a', 'b', 'c'])
      })
    }
  }
})
