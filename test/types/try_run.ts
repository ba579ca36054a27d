// tryRunExclusive() and tryRunShared(): `ran` tells whether there is a value.
import {
  DiningPhilosophers,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  Mutex,
  RecursiveMutex,
  RWLock,
  Semaphore,
  type TryRunResult,
} from 'boxoffice'

export async function tries() {
  const result: TryRunResult<string> = await new Mutex().tryRunExclusive(async () => 'done')
  if (result.ran) {
    const text: string = result.value
    console.log(text)
  } else {
    const none: undefined = result.value
    console.log(none)
  }
  const { ran, value } = await new RecursiveMutex().tryRunExclusive(() => 1)
  const maybe: number | undefined = value
  const lock = new RWLock()
  const counts: TryRunResult<bigint | undefined> = await lock.tryRunShared(
    (grant) => grant.fencingToken,
  )
  await lock.tryRunExclusive((grant) => {
    // @ts-expect-error the property may be there without a value
    if ('fencingToken' in grant) grant.fencingToken.toString()
    // @ts-expect-error as above
    if ('signal' in grant) grant.signal.throwIfAborted()
  })
  await new Semaphore(1).tryRunExclusive((before: number, grant) => grant.abandoned || before, 2)
  await new KeyedMutex().tryRunExclusive(['a', 1], () => {})
  await new KeyedRWLock().tryRunShared('a', () => {})
  await new KeyedRWLock().tryRunExclusive('a', () => {})
  await new KeyedSemaphore(2).tryRunExclusive(['a'], (values: number[]) => values, 2)
  await new DiningPhilosophers(3).tryRunExclusive(0, () => {})
  // @ts-expect-error it never waits
  await new Mutex().tryRunExclusive(() => {}, { timeout: 1 })
  return { counts, maybe, ran }
}
