import type { Key } from './keys.js'

/** Every `code` of an error of this package. docs/errors.md tells when each occurs, and what to do. */
export type LockErrorCode =
  | 'ERR_LOCK_ALREADY_LOCKED'
  | 'ERR_LOCK_BROKEN'
  | 'ERR_LOCK_CANCELED'
  | 'ERR_LOCK_CAPACITY'
  | 'ERR_LOCK_CLOSED'
  | 'ERR_LOCK_DEADLOCK'
  | 'ERR_LOCK_ENGINE'
  | 'ERR_LOCK_ENGINE_SCHEMA'
  | 'ERR_LOCK_ENGINE_SESSION'
  | 'ERR_LOCK_ENGINE_VERSION'
  | 'ERR_LOCK_FORKED'
  | 'ERR_LOCK_LOST'
  | 'ERR_LOCK_MEMORY'
  | 'ERR_LOCK_MISMATCH'
  | 'ERR_LOCK_MISUSE'
  | 'ERR_LOCK_NOT_HELD'
  | 'ERR_LOCK_NO_TRANSACTION'
  | 'ERR_LOCK_QUEUE_FULL'
  | 'ERR_LOCK_RANGE'
  | 'ERR_LOCK_SEGMENT'
  | 'ERR_LOCK_TIMEOUT'
  | 'ERR_LOCK_UNSUPPORTED'
  | 'ERR_LOCK_UPGRADE'

/**
 * An error of this package. The TypeErrors and RangeErrors of bad arguments have no `code`, and are not LockErrors.
 */
export interface LockError extends Error {
  code: LockErrorCode
  /** For `ERR_LOCK_DEADLOCK` of a lock with `diagnostics: true`: the waiters that wait for each other. */
  cycle?: DeadlockStep[]
}

/** A waiter in a deadlock. */
export interface DeadlockStep {
  /** The `threadId` of the waiter: 0 is the main thread. */
  thread: number
  /** The lock that the waiter waits for. */
  waitsFor: DeadlockLock
  /** The locks that the waiter holds, and that the waiter before it in the cycle waits for. */
  holds: DeadlockLock[]
}

/** A lock that a waiter in a deadlock holds or waits for. */
export interface DeadlockLock {
  kind: LockKind
  name?: string | undefined
  key?: Key | undefined
  scope: LockScope
  /** The mode of the hold or of the wait. */
  mode?: HoldMode | undefined
  /** The units of a semaphore. */
  weight?: number | undefined
  /** The stack of the acquire. */
  stack?: string | undefined
}

/** The class of a lock, in reports of diagnostics. */
export type LockKind =
  | 'Mutex'
  | 'RecursiveMutex'
  | 'Semaphore'
  | 'RWLock'
  | 'KeyedMutex'
  | 'KeyedSemaphore'
  | 'KeyedRWLock'

/** The scope of a lock, in reports of diagnostics. `'cluster'` means over an engine. */
export type LockScope = 'process' | 'host' | 'cluster'

/** How a lock is held or waited for: exclusively, or shared with others. A semaphore has weights instead. */
export type HoldMode = 'exclusive' | 'shared'

/**
 * Returns whether `error` is an error of this package, by its `code`. True for errors of another copy of the package
 * and of another realm. False for a structured clone, which has lost the `code`.
 *
 * @example
 * const users = new KeyedMutex()
 * let status = 200
 * try {
 *   await users.runExclusive('ada', async () => sell(), { timeout: 2000 })
 * } catch (error) {
 *   if (!isLockError(error, 'ERR_LOCK_TIMEOUT')) throw error
 *   status = 503
 * }
 */
export function isLockError(error: unknown): error is LockError
/** Returns whether `error` is an error of this package with this `code`. */
export function isLockError<Code extends LockErrorCode>(
  error: unknown,
  code: Code,
): error is LockError & { code: Code }

/**
 * A wait that `withTimeout()` ends rejects with this error. Its `code` is `ERR_LOCK_TIMEOUT`. The option `timeout`
 * makes errors of the same code that name the lock, so compare the code there, not the object.
 */
export const E_TIMEOUT: LockError

/**
 * A lock decorated by `tryAcquire()` rejects with this error when it would have to wait. Its `code` is
 * `ERR_LOCK_ALREADY_LOCKED`.
 */
export const E_ALREADY_LOCKED: LockError

/** A wait that `cancel()` ends rejects with this error. Its `code` is `ERR_LOCK_CANCELED`. */
export const E_CANCELED: LockError
