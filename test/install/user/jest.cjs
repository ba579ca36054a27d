'use strict'
// A file of tests for jest: a lock of each scope that needs no server, with and without diagnostics.
const { Mutex, Semaphore, snapshot } = require('boxoffice')

test('locks hand over', async () => {
  const sharing = { shared: true }
  const byName = { name: 'tickets' }
  const locks = [
    new Mutex(),
    new Mutex(sharing),
    new Mutex(byName),
    new Mutex({ diagnostics: true }),
  ]
  if (process.platform === 'linux') {
    const directory = `${process.cwd()}/locks`
    locks.push(new Mutex({ scope: 'host', name: 'jest', directory }))
  }
  for (const lock of locks) {
    const release = await lock.acquire()
    const waiting = lock.acquire()
    release()
    ;(await waiting)()
  }
  const [value, release] = await new Semaphore(2).acquire()
  release()
  expect(value).toBe(2)
  await snapshot()
})
