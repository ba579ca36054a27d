'use strict'
// A new user's first program: a lock of each scope that needs no server, and one of two threads.
// Prints the platform of the addon.
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { KeyedMutex, Mutex, Semaphore, locks, platform } = require('boxoffice')

async function main() {
  const sold = []
  const keyed = new KeyedMutex()
  const sell = (user) =>
    keyed.runExclusive(user, async () => sold.includes(user) || sold.push(user))
  await Promise.all([sell('ann'), sell('ann'), sell('bob')])
  if (sold.join() !== 'ann,bob') throw new Error(`sold to ${sold}`)

  const [value, release] = await new Semaphore(2).acquire()
  release()
  if (value !== 2) throw new Error(`a value of ${value}`)
  await locks.request('tickets', async () => {})

  const mutex = new Mutex({ name: 'tickets' })
  const held = await mutex.acquire()
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
     const mutex = new (require('boxoffice').Mutex)({ name: 'tickets' })
     parentPort.postMessage('waits')
     mutex.lockSync()
     mutex.unlock()`,
    { eval: true },
  )
  await once(worker, 'message')
  held.release()
  await once(worker, 'exit')

  // Deno frees the memory of a segment, which it does not own, when it ends.
  if (process.platform === 'linux' && !process.versions.deno) {
    const host = new Mutex({ scope: 'host', name: 'smoke', directory: `${process.cwd()}/locks` })
    await host.runExclusive(async () => {})
  }
  console.log(platform)
}

main()
