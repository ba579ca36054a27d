/**
 * Locks of several machines over Redis or Valkey.
 *
 * @module boxoffice/redis
 */

import type { Engine, EngineOptions } from '../options.js'

/** A connected client of the package `redis`, from `createClient()` or `createCluster()`. */
export interface NodeRedisClient {
  duplicate(): unknown
  sSubscribe: unknown
  sendCommand: unknown
}

/** A connected client of the package `redis`, from `createSentinel()`. It needs {@link RedisOptions.connection}. */
export interface NodeRedisSentinel {
  getSentinelNode: unknown
  sendCommand: unknown
}

/** A `Redis` or a `Cluster` of the package `ioredis`. */
export interface IORedisClient {
  call: unknown
  duplicate: unknown
  status: string
}

/** A `GlideClient` or a `GlideClusterClient` of the package `@valkey/valkey-glide`, 2.3 or later. */
export interface GlideClient {
  customCommand: unknown
  subscribe: unknown
}

export interface RedisOptions extends EngineOptions {
  /**
   * All keys and channels in Redis begin with it, in braces. Engines of different prefixes share no lock.
   *
   * @default 'boxoffice'
   */
  prefix?: string | undefined
  /**
   * Over how many hash slots of a Redis Cluster the locks are spread, from 1 to 1024. Each of them costs one command
   * per renewal. Pass the same number in every process: acquiring rejects with `ERR_LOCK_MISMATCH` where it
   * differs. @default 1
   */
  shards?: number | undefined
  /**
   * The connection options of the renewing thread. The default is the client's options. Pass it if those contain
   * functions (like a `credentialsProvider` or an `addressResolver`) or instances of classes, which cannot be sent to a
   * thread. A `username` and a `password` do not need it.
   *
   * Also pass it with a client of `createSentinel()`: the same options as `createSentinel()` got. Both connections of
   * the engine then ask the `sentinelRootNodes` for the master.
   */
  connection?: object | undefined
}

/**
 * Returns an engine over Redis 7 or Valkey 7.2 or later: see docs/redis.md. The engine sends its commands through
 * `client`, and makes two more connections with the same options: one for notifications, and one in a thread that
 * renews leases. Once connected, they do not keep the process alive, with one exception: if `client` is a cluster's
 * client of `redis` or `ioredis`, the connection for notifications keeps the process alive until {@link Engine.close}.
 *
 * @throws {TypeError} if `client` is not such a client, an option has the wrong type, or the options of the renewing
 *   thread (`connection`, or those of `client`) cannot be sent to a thread.
 * @throws {RangeError} if an option is out of range.
 *
 * @example
 * import { createClient } from 'redis'
 * import { KeyedMutex } from 'boxoffice'
 * import { redis } from 'boxoffice/redis'
 *
 * const client = createClient({ url: 'redis://127.0.0.1:6379' }).on('error', console.error)
 * await client.connect()
 * const seats = new KeyedMutex({ engine: redis(client), name: 'seats' })
 * const release = await seats.acquire('A7', { timeout: 1000 })
 * try {
 *   await sell('A7', release.fencingToken, release.signal)
 * } finally {
 *   release()
 * }
 *
 * @example
 * // Many processes start the job at about the same time, and one process runs it: docs/recipes/cron.md
 * const nightly = new Mutex({ engine: redis(client), name: 'nightly', minHold: 50_000 })
 * await nightly.runExclusive(() => store(), { ifAvailable: true })
 */
export function redis(
  client: NodeRedisClient | IORedisClient | GlideClient,
  options?: RedisOptions,
): Engine
export function redis(
  client: NodeRedisSentinel,
  options: RedisOptions & { connection: object },
): Engine
