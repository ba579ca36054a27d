// Compiled, never run: locks that the processes of a machine share.
import {
  type HostOptions,
  type KeyedHostOptions,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  LockManager,
  Mutex,
  type MutexSnapshot,
  RecursiveMutex,
  RWLock,
  type RWLockSnapshot,
  Semaphore,
  type SemaphoreSnapshot,
} from 'boxoffice'

const where: HostOptions = { scope: 'host', directory: '/run/locks' }
const keyed: KeyedHostOptions = { ...where, capacity: 1024 }

async function single() {
  const mutex = new Mutex({ ...where, name: 'orders', fairness: 'fifo' })
  const release = await mutex.acquire()
  const token: bigint | undefined = release.fencingToken
  const seen: MutexSnapshot = mutex.snapshot()
  const pids: number[] | undefined = seen.holderPids
  const counts: SemaphoreSnapshot = new Semaphore(3, { ...where, name: 'uploads' }).snapshot()
  const lock: RWLockSnapshot = new RWLock({ ...where, name: 'cache' }).snapshot()
  return [token, pids, seen.locked, counts.value, lock.readers, lock.written]
}

async function maps() {
  const keys = new KeyedMutex({ ...keyed, name: 'users' })
  const token: bigint | undefined = (await keys.acquire(['a', 'b'])).fencingToken
  for (const { key, locked, waiterPids } of keys.snapshot()) console.log(key, locked, waiterPids)
  new KeyedSemaphore(2, { ...keyed, name: 'users' })
  new KeyedRWLock({ ...keyed, name: 'users' })
  const manager = new LockManager({ ...keyed, name: 'users' })
  await manager.request('a', { mode: 'shared' }, (lock) => lock?.name)
  return token
}

new Mutex({ ...where, name: 'backup', minHold: 60_000, maxHold: Infinity })
new KeyedMutex({ ...keyed, name: 'backups', minHold: 60_000 })
new RecursiveMutex({ ...where, name: 'backup', minHold: 60_000 })
// @ts-expect-error: there is no such scope
new Mutex({ scope: 'planet', name: 'orders' })
// @ts-expect-error: a single lock has no keys
new Mutex({ ...where, name: 'orders', capacity: 5 })

export { maps, single }
