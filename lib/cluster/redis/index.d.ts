import type { Engine, EngineOptions } from '../options.js'

/** A client of the package `redis`: of `createClient()` or `createCluster()`, connected. */
export interface NodeRedisClient {
  duplicate(): unknown
  sSubscribe: unknown
  sendCommand: unknown
}

/** A client of the package `redis`: of `createSentinel()`, connected. It needs {@link RedisOptions.connection}. */
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

export interface RedisOptions extends EngineOptions {
  /** What all keys and channels in Redis begin with, in braces: others have other locks. @default 'boxoffice' */
  prefix?: string
  /**
   * Over how many hash slots of a Redis Cluster the locks are spread, from 1 to 1024. Each costs one command for each
   * renewal of each thread that uses it. Everybody must have the same. @default 1
   */
  shards?: number
  /**
   * What the thread that renews connects with, in place of the client's own options: for a client whose options another
   * thread cannot be given, because they have functions (such as a `credentialsProvider`) or objects of classes in them. A
   * `username` and a `password` need none of this.
   *
   * A client of `createSentinel()` needs it: the options that `createSentinel()` got. Both connections of the engine's own
   * then ask its `sentinelRootNodes` for the master.
   */
  connection?: object
}

/**
 * An engine over Redis 7 or Valkey 7.2 or later: see docs/engines.md. It sends its commands by `client`, and
 * makes two connections of its own like it: one to hear of grants, and one in a thread that renews. Neither keeps the process
 * alive once it is made, but for one to a cluster, until {@link Engine.close}.
 *
 * @throws {TypeError} when `client` is none, an option is of the wrong type, or the renewing thread cannot be given an
 * option of the client that it needs to connect, and there is no `connection`, or an option in `connection` is a function.
 * @throws {RangeError} when an option is out of its range.
 *
 * @example
 * import { createClient } from 'redis'
 * import { KeyedMutex } from 'boxoffice'
 * import { redis } from 'boxoffice/redis'
 *
 * const client = await createClient({ url: 'redis://127.0.0.1:6379' }).connect()
 * const seats = new KeyedMutex({ engine: redis(client) })
 * const release = await seats.acquire('A7', { timeout: 1000 })
 * try {
 *   await sell('A7', release.fencingToken, release.signal)
 * } finally {
 *   release()
 * }
 *
 * @example
 * // A job that many processes start at about the same time, and one of them runs: docs/recipes/cron.md
 * const nightly = new Mutex({ engine: redis(client), name: 'nightly', minHold: 60_000 })
 * await nightly.runExclusive(() => store(), { ifAvailable: true })
 */
export function redis(client: NodeRedisClient | IORedisClient, options?: RedisOptions): Engine
export function redis(
  client: NodeRedisSentinel,
  options: RedisOptions & { connection: object },
): Engine
