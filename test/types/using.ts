// Compiled and run by test/thread/using.test.js.
import { KeyedMutex, KeyedSemaphore, Mutex, Semaphore } from 'boxoffice'

/** Whether each lock is held inside its block, and free after it, left in three ways. */
export async function useThem(): Promise<string[]> {
  const log: string[] = []
  const mutex = new Mutex()
  const semaphore = new Semaphore(1)
  const locks = new KeyedMutex()
  {
    using _ = await mutex.acquire()
    log.push(`mutex ${mutex.isLocked()}`)
  }
  log.push(`mutex ${mutex.isLocked()}`)
  try {
    await using _ = await locks.acquire(['a', 'b'])
    log.push(`keys ${locks.size}`)
    throw new Error('out')
  } catch {
    log.push(`keys ${locks.size}`)
  }
  const value = await (async () => {
    const [value, release] = await semaphore.acquire()
    using _ = release
    return value
  })()
  log.push(`semaphore ${value} ${semaphore.getValue()}`)
  {
    using ticket = await semaphore.acquire()
    log.push(`ticket ${ticket[0]} ${semaphore.getValue()}`)
  }
  log.push(`ticket ${semaphore.getValue()}`)
  {
    await using ticket = await new KeyedSemaphore(2).acquire(['a', 'b'])
    log.push(`tickets ${ticket[0].join()}`)
  }
  return log
}
