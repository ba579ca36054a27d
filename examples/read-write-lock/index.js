'use strict'
const { once } = require('node:events')
const { setTimeout: query } = require('node:timers/promises')
const { isMainThread, Worker, workerData } = require('node:worker_threads')
const { RWLock } = require('boxoffice')

const lock = new RWLock({ name: 'seats' }) // one lock for all threads that use this name
const seats = isMainThread ? new Int32Array(new SharedArrayBuffer(8)) : workerData

/** In each worker, which blocks while the writer has the lock: both numbers are of one moment. */
function read() {
  let wrong = 0
  let now = { sold: 0 }
  while (now.sold < 100) {
    now = lock.runSharedSync(() => ({ free: seats[0], sold: seats[1] }))
    if (now.free + now.sold !== 100) wrong++
  }
  console.log(`a worker has seen ${wrong} wrong sums`)
}

async function main() {
  seats[0] = 100
  const workers = [1, 2].map(() => new Worker(__filename, { workerData: seats }))
  await Promise.all(workers.map((worker) => once(worker, 'online')))
  for (let i = 0; i < 100; ++i) {
    await lock.runExclusive(async () => {
      seats[0]--
      await query(1) // the sum is wrong meanwhile
      seats[1]++
    })
  }
}

if (isMainThread) main()
else read()
