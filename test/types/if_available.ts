// Compiled, never run: ifAvailable, and what callbacks are told of their grant.
import {
  type Grant,
  KeyedMutex,
  KeyedSemaphore,
  Mutex,
  type Releaser,
  RWLock,
  Semaphore,
  type SemaphoreTicket,
} from 'boxoffice'

async function now() {
  const mutex = new Mutex()
  const maybe: Releaser | undefined = await mutex.acquire({ ifAvailable: true, priority: 1 })
  // @ts-expect-error It may be undefined.
  const sure: Releaser = await mutex.acquire({ ifAvailable: true })
  const always: Releaser = await mutex.acquire({ timeout: 5 })
  const ran: number | undefined = await mutex.runExclusive(() => 1, { ifAvailable: true })
  const done: number = await mutex.runExclusive(({ signal }) => Number(signal?.aborted))
  // @ts-expect-error It would resolve to undefined anyway.
  mutex.lock({ ifAvailable: true })
  const semaphore = new Semaphore(2)
  const ticket: SemaphoreTicket | undefined = await semaphore.acquire(2, { ifAvailable: true })
  const same: SemaphoreTicket | undefined = await semaphore.acquire({
    weight: 2,
    ifAvailable: true,
  })
  const units: number | undefined = await semaphore.runExclusive((value) => value, {
    ifAvailable: true,
  })
  const reader = await new RWLock().acquireRead()
  const writer: Releaser | undefined = await reader.upgrade({ ifAvailable: true })
  const keys: Releaser | undefined = await new KeyedMutex().acquire(['a', 'b'], {
    ifAvailable: true,
  })
  const uploads = new KeyedSemaphore(3)
  const several: SemaphoreTicket<number[]> | undefined = await uploads.acquire(['a', 'b'], {
    ifAvailable: true,
  })
  const told: Grant = await semaphore.runExclusive((_value, grant) => grant)
  const token: bigint | undefined = told.fencingToken
  const impatient = new Mutex({ timeout: 50, maxPending: 10 })
  await impatient.acquire({ maxPending: 5 })
  await impatient.lock({ maxPending: 5 })
  // @ts-expect-error It is not to hold the lock.
  impatient.waitForUnlock({ maxPending: 5 })
  new KeyedSemaphore(3, { timeout: 50, maxPending: 10 })
  await semaphore.acquire({ weight: 2, maxPending: 5 })
  return [maybe, sure, always, ran, done, ticket, same, units, writer, keys, several, token]
}

export { now }
