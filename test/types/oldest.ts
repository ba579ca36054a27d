// Compiled by the oldest supported TypeScript, too (test/package/types_oldest.test.js). Never run.
import boxoffice, { KeyedMutex, type Mutex, RWLock, Semaphore, withTimeout } from 'boxoffice'
import { Engine } from 'boxoffice/engine'
import { etcd } from 'boxoffice/etcd'
import { fetchInspector, inspector } from 'boxoffice/inspector'
import { postgres } from 'boxoffice/postgres'
import { redis } from 'boxoffice/redis'

export async function locks(): Promise<number> {
  const mutex: Mutex = new boxoffice.Mutex()
  const release = await mutex.acquire({ timeout: 5 })
  release[Symbol.dispose]()
  const [value, releaser] = await new Semaphore(2).acquire()
  releaser.release()
  const writer = await new RWLock().acquireWrite()
  await writer[Symbol.asyncDispose]()
  await new KeyedMutex().runExclusive('a', () => 1)
  return value
}

export const all = [locks, withTimeout, Engine, etcd, fetchInspector, inspector, postgres, redis]
