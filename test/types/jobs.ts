// Compiled, never run: SingleFlight, semaphore.limit() and semaphore.map().
import type { Semaphore, SingleFlight } from 'boxoffice'

async function jobs(semaphore: Semaphore, flight: SingleFlight, signal: AbortSignal) {
  const limited: (id: number, name?: string) => Promise<string> = semaphore.limit(
    (id: number, name = '') => `${id}${name}`,
    { weight: 2, timeout: 5 },
  )
  const async: (id: number) => Promise<boolean> = semaphore.limit(async (id: number) => id > 0)
  const skipping: (id: number) => Promise<boolean | undefined> = semaphore.limit(
    (id: number) => id > 0,
    {
      ifAvailable: true,
    },
  )
  // @ts-expect-error A call may be skipped.
  const sure: (id: number) => Promise<boolean> = semaphore.limit((id: number) => id > 0, {
    ifAvailable: true,
  })
  // @ts-expect-error It takes what the function takes.
  limited('1')
  const lengths: number[] = await semaphore.map(['a'], (item) => item.length, { signal })
  const items: AsyncIterable<number> = (async function* () {
    yield 1
  })()
  const names: string[] = await semaphore.map(items, async (item, { index, signal }) => {
    signal.throwIfAborted()
    return `${index + item}`
  })
  const awaited: number[] = await semaphore.map([Promise.resolve(1)], (item) => item + 1)
  // @ts-expect-error An iterable.
  semaphore.map(5, () => {})

  const user: { id: string } = await flight.do('ada', async () => ({ id: 'ada' }))
  const plain: number = await flight.do(1n, (signal) => Number(signal.aborted), {
    timeout: 5,
    signal,
  })
  // @ts-expect-error It has no queue.
  flight.do('ada', () => {}, { priority: 1 })
  const was: boolean = flight.forget('ada')
  return [skipping, sure, async, lengths, names, awaited, user, plain, was, flight.size]
}

export { jobs }
