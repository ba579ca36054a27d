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

/** A client of the package `ioredis`: a `Redis` or a `Cluster`. */
export interface IORedisClient {
  call: unknown
  duplicate: unknown
  status: string
}

/** A client of the package `@valkey/valkey-glide`, 2.3 or later: a `GlideClient` or a `GlideClusterClient`. */
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
   * The number of hash slots of a Redis Cluster that the locks are spread over, from 1 to 1024. Each slot that a thread
   * uses costs one command for each renewal. It must be the same in every process. @default 1
   */
  shards?: number | undefined
  /**
   * The connection options of the renewing thread, in place of the client's own options. Needed when the client's options
   * cannot be sent to a thread, because they contain functions (like a `credentialsProvider` or an `addressResolver`) or
   * instances of classes. A `username` and a `password` do not need it.
   *
   * A client of `createSentinel()` needs it: pass the options of `createSentinel()`. Both connections of the engine
   * then ask its `sentinelRootNodes` for the master.
   */
  connection?: object | undefined
}

/**
 * Makes an engine over Redis 7 or Valkey 7.2 or later: see docs/redis.md. It sends its commands through `client`, and
 * makes two more connections with the same options: one for notifications, and one in a thread that renews leases. Once
 * connected, neither keeps the process alive. The exception is the connection for notifications of `redis` or `ioredis`
 * to a cluster: it keeps the process alive until {@link Engine.close}.
 *
 * @throws {TypeError} when `client` is not such a client, an option is of the wrong type, an option in `connection` is
 * a function, or, without `connection`, the client's options cannot be sent to the renewing thread.
 * @throws {RangeError} when an option is out of its range.
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
