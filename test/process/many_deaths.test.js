'use strict'
// Acquiring several keys fails after one of them has reported a death.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedRWLock, KeyedSemaphore } = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')

describe('several keys at once, one of which a thread held when it died', () => {
  const agent = useAgents()
  const allowed = { allowBlockingMainThread: true }
  const grantOf = (got) => (Array.isArray(got) ? got[1] : got)
  const makes = {
    KeyedMutex: { make: (options) => new KeyedMutex(options), acquire: 'acquire' },
    KeyedSemaphore: { make: (options) => new KeyedSemaphore(1, options), acquire: 'acquire' },
    'KeyedRWLock, read': { make: (options) => new KeyedRWLock(options), acquire: 'acquireRead' },
    'KeyedRWLock, write': { make: (options) => new KeyedRWLock(options), acquire: 'acquireWrite' },
  }
  const fails = {
    'at once': ({ tryAll }) => assert.equal(tryAll(), undefined),
    'in time': ({ all }) => assert.rejects(all({ timeout: 5 }), { code: 'ERR_LOCK_TIMEOUT' }),
    'before an abort': ({ all }) =>
      assert.rejects(all({ signal: AbortSignal.timeout(5) }), { name: 'TimeoutError' }),
    'in time, blocking': ({ allSync }) =>
      assert.throws(() => allSync({ timeout: 5 }), { code: 'ERR_LOCK_TIMEOUT' }),
  }

  for (const [kind, { make, acquire }] of Object.entries(makes)) {
    for (const [how, fail] of Object.entries(fails)) {
      it(`${kind}: keys not obtained ${how} leave the report to the next holder`, async () => {
        const name = freshName()
        const locks = make({ name, ...allowed })
        const [class_] = kind.split(',')
        const acquireOne = acquire.replace('Read', 'Write')
        const first = kind === 'KeyedSemaphore' ? '1, ' : ''
        const code = `my.locks = new boxoffice.${class_}(${first}{ name: '${name}' })
          await my.locks.${acquireOne}(workerData)`
        const other = agent('b')
        await other.does(code)
        const one = agent('a')
        await one.does(code)
        await one.dies()
        const weight = kind === 'KeyedSemaphore' ? [1] : []
        await fail({
          tryAll: () => locks[`try${acquire[0].toUpperCase()}${acquire.slice(1)}`](['a', 'b']),
          all: (limits) => locks[acquire](['a', 'b'], ...weight, limits),
          allSync: (limits) => locks[`${acquire}Sync`](['a', 'b'], ...weight, limits),
        })
        const release = grantOf(await locks[acquire]('a'))
        assert.equal(release.abandoned, true)
        release()
        const next = grantOf(await locks[acquire]('a'))
        assert.equal(next.abandoned, false)
        next()
      })
    }
  }
})
