// The same as oldest.ts, as an ES module.
import boxoffice, { KeyedMutex, RWLock, Semaphore, withTimeout } from 'boxoffice'
import { Engine } from 'boxoffice/engine'
import { etcd } from 'boxoffice/etcd'
import { inspector } from 'boxoffice/inspector'
import { postgres } from 'boxoffice/postgres'
import { redis } from 'boxoffice/redis'

export async function locks(): Promise<number> {
  const mutex: boxoffice.Mutex = new boxoffice.Mutex()
  const release = await mutex.acquire({ timeout: 5 })
  release[Symbol.dispose]()
  const [value, releaser] = await new Semaphore(2).acquire()
  releaser.release()
  const writer = await new RWLock().acquireWrite()
  await writer[Symbol.asyncDispose]()
  await new KeyedMutex().runExclusive('a', () => 1)
  return value
}

export const all = [locks, withTimeout, Engine, etcd, inspector, postgres, redis]
