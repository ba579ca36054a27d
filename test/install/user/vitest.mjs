// A file of tests for vitest: a lock of each scope that needs no server, with and without diagnostics. Writes down how
// many files this process has run, and its memory in bytes, for the test that runs it.
import { appendFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as locking from 'boxoffice'

const { Mutex, Semaphore, snapshot } = locking

// Threads have no --expose-gc.
setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')

test('locks hand over', async () => {
  const locks = [new Mutex()]
  // Without it, this is async-mutex.
  if (snapshot !== undefined) {
    locks.push(new Mutex({ shared: true }), new Mutex({ name: 'tickets' }))
    locks.push(new Mutex({ diagnostics: true }))
    if (process.platform === 'linux') {
      const directory = `${process.cwd()}/locks`
      locks.push(new Mutex({ scope: 'host', name: 'vitest', directory }))
    }
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
  await snapshot?.()

  // Finalizers run in turns of the event loop after the collection.
  for (let i = 0; i < 3; i++) {
    gc()
    await turn()
  }
  process.filesRun = (process.filesRun ?? 0) + 1
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  const line = JSON.stringify({
    files: process.filesRun,
    bytes: heapUsed + external + arrayBuffers,
  })
  appendFileSync('memory.jsonl', `${line}\n`)
})
