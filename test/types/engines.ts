// Compiled, never run: locks over an engine.
import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
import {
  type EngineOptions,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  LeaderElection,
  LockManager,
  Mutex,
  RecursiveMutex,
  Semaphore,
} from 'boxoffice'
import { Engine, type EngineAnswer, type EngineDriver, type EngineLeaving } from 'boxoffice/engine'
import { type RedisOptions, redis } from 'boxoffice/redis'
import { Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'

const options: RedisOptions = { ttl: 1000, maxHold: 5000, prefix: 'shop', shards: 4 }

async function locks(driver: EngineDriver, times: EngineOptions) {
  const client = createClient()
  const engine = redis(client, options)
  const opened: Promise<void> = engine.ready()
  await opened
  await engine.ready({ timeout: 5000, signal: AbortSignal.timeout(10) })
  // @ts-expect-error It takes no priority.
  await engine.ready({ priority: 1 })
  redis(createCluster({ rootNodes: [] }))
  const connection = { name: 'tickets', sentinelRootNodes: [] }
  redis(createSentinel(connection), { connection })
  // @ts-expect-error A client of createSentinel() needs `connection`.
  redis(createSentinel(connection))
  redis(new Redis())
  redis(await GlideClient.createClient({ addresses: [] }))
  redis(await GlideClusterClient.createClient({ addresses: [] }), { shards: 2 })
  redis(new Redis(), { prefix: undefined, shards: undefined, connection: undefined })
  redis(new Redis(), { ttl: undefined, maxHold: undefined, answerTimeout: undefined })
  new Mutex({ engine: undefined })
  const mutex = new Mutex({ engine, name: 'orders' })
  const release = await mutex.acquire({ timeout: 5 })
  const token: bigint | undefined = release.fencingToken
  const signal: AbortSignal | undefined = release.signal
  new KeyedMutex({ engine })
  new KeyedSemaphore(3, { engine })
  new Semaphore(3, { engine, name: 'pool' })
  new RecursiveMutex({ engine, name: 'account' })
  new KeyedRWLock({ engine, name: 'seats' })
  new LockManager({ engine, name: 'jobs', maxHold: 5000 })
  new Mutex({ engine, name: 'report', minHold: 1000, maxHold: Infinity })
  new RecursiveMutex({ engine, name: 'report', minHold: 1000 })
  new KeyedMutex({ engine, minHold: 1000, maxHold: 5000 })
  new LeaderElection({ engine, name: 'mail', maxHold: Infinity })
  // At scope host all locks have both.
  new Semaphore(3, { scope: 'host', name: 'pool', minHold: 1000, maxHold: 5000 })
  new KeyedSemaphore(3, { scope: 'host', name: 'pool', minHold: 1000 })
  new KeyedRWLock({ scope: 'host', name: 'seats', minHold: 1000 })
  new RecursiveMutex({ scope: 'host', name: 'account', maxHold: 5000 })
  await using own = new Engine(driver, times)
  await engine.close()
  // @ts-expect-error a client, not its URL
  redis('redis://localhost')
  // @ts-expect-error it is made by redis() or postgres()
  new Mutex({ engine: client, name: 'orders' })
  return [token, signal, own]
}

/** All that a driver is asked, and may answer. */
const driver: EngineDriver = {
  name: 'none',
  keeper: { module: 'none', data: undefined },
  async listen(_session, { granted, wanted, missed, moved, trouble }) {
    granted('id')
    granted('id', { token: 1n, wanted: false, abandoned: true, until: 1 })
    wanted('key')
    missed()
    moved()
    trouble(undefined)
    trouble(new Error('refused'))
  },
  async enter({ first, wait, claim, maxHold }): Promise<EngineAnswer> {
    if (first) return { state: 'upgrading' }
    if (!wait) return { state: 'refused' }
    return { state: 'waiting', look: claim, clock: maxHold }
  },
  confirm: async () => ({ state: 'over', wanted: false }),
  async leave(request) {
    const { keep, untold }: EngineLeaving = request
    await confirm?.({ ...request, first: untold, wait: keep > 0, maxHold: 1 })
  },
  end: async () => {},
  close: async () => {},
}
const { confirm, ...silent } = driver
const quiet: EngineDriver = silent

export { locks, quiet }
