/**
 * Locks of several machines over etcd.
 *
 * @module boxoffice/etcd
 */

import type { Engine, EngineOptions } from '../options.js'

/** A client of the package `etcd3`: `new Etcd3(...)`, or a `client.namespace()`, whose prefix comes first. */
export interface EtcdClient {
  kv: unknown
  leaseClient: unknown
  watchClient: unknown
}

export interface EtcdOptions extends EngineOptions {
  /**
   * All keys in etcd begin with it and a `/`. Engines of different prefixes share no lock.
   *
   * @default 'boxoffice'
   */
  prefix?: string | undefined
  /**
   * The options of the engine's connections, as `new Etcd3()` takes them: `hosts`, `credentials`, `auth` and
   * `grpcOptions`. The default is the options of `client`. Pass it if those contain functions, which cannot be sent to
   * the renewing thread.
   */
  connection?: object | undefined
}

/**
 * Returns an engine over etcd 3.4 or later: see docs/etcd.md. The engine makes connections of its own with the options
 * of `client`: one for commands, one for notifications, and one in a thread that renews leases. They keep the process
 * alive only while a command waits for its answer. The engine connects when the first lock is acquired, and sends no
 * command through `client`.
 *
 * Acquiring rejects with `ERR_LOCK_ENGINE` if no server of the cluster answers in time, or if most servers are down.
 * The error of etcd3 is the `cause`.
 *
 * @throws {TypeError} if `client` is not an Etcd3, an option has the wrong type, or the connection's options contain
 *   functions.
 * @throws {RangeError} if an option is out of range.
 *
 * @example
 * import { Etcd3 } from 'etcd3'
 * import { KeyedMutex } from 'boxoffice'
 * import { etcd } from 'boxoffice/etcd'
 *
 * const client = new Etcd3({ hosts: 'http://127.0.0.1:2379' })
 * const seats = new KeyedMutex({ engine: etcd(client), name: 'seats' })
 * const release = await seats.acquire('A7', { timeout: 1000 })
 * try {
 *   await sell('A7', release.fencingToken, release.signal)
 * } finally {
 *   release()
 * }
 */
export function etcd(client: EtcdClient, options?: EtcdOptions): Engine
