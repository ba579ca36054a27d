// A program for bundlers that has locks of the thread scope only.
import { KeyedMutex, RecursiveMutex, RWLock, Semaphore } from 'boxoffice'

async function main() {
  let sold = 0
  const sell = async () => {
    const before = sold
    await null
    sold = before + 1
  }
  for (const lock of [new RecursiveMutex(), new RWLock(), new Semaphore(1)]) {
    await Promise.all([lock.runExclusive(sell), lock.runExclusive(sell)])
  }
  const keyed = new KeyedMutex()
  await Promise.all([1, 2, 3].map(() => keyed.runExclusive('ann', sell)))
  console.log(`sold ${sold}`)
}

main()
