// TypeScript knows these from version 5.2 on, with its library `esnext.disposable`. Declared alike twice they are one,
// so that older versions and smaller libraries compile this file, too.
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol
    readonly asyncDispose: unique symbol
  }
  interface Disposable {
    [Symbol.dispose](): void
  }
  interface AsyncDisposable {
    [Symbol.asyncDispose](): PromiseLike<void>
  }
}

/**
 * The system and processor the addon was built for, as Node names them.
 *
 * @example
 * 'linux-x64'
 */
export const platform: string

/** Rejects a wait that {@link withTimeout} has ended. Its `code` is `ERR_LOCK_TIMEOUT`. */
export const E_TIMEOUT: Error
/** Rejects what {@link tryAcquire} could not have at once. `ERR_LOCK_ALREADY_LOCKED`. */
export const E_ALREADY_LOCKED: Error
/** Rejects waits that `cancel()` has ended. `ERR_LOCK_CANCELED`. */
export const E_CANCELED: Error

/**
 * How to wait. Any wait may also end with `ERR_LOCK_MEMORY`, where there is no memory for one more who waits, and of
 * scope `'host'` with `ERR_LOCK_FORKED`, in a copy of the process that `fork(2)` has made: see docs/errors.md.
 */
export interface WaitOptions {
  /** Higher goes first; first come, first served within a priority. Not NaN. @default 0 */
  priority?: number
  /**
   * The longest wait in milliseconds: 0 or more, where 0 takes the lock now or not at all. Beyond
   * 2^31 - 1 (24 days) there is no deadline. After it the promise rejects with `ERR_LOCK_TIMEOUT`.
   * The timer is the global `setTimeout` of that moment.
   */
  timeout?: number
  /**
   * Takes this one out of the line: the promise rejects with `signal.reason`. No effect once the lock
   * has been granted.
   */
  signal?: AbortSignal
}

export interface WeightedWaitOptions extends WaitOptions {
  /** How much to take from the value. @default 1 */
  weight?: number
}

/**
 * How to wait where the wait blocks the thread. A signal cannot reach a blocked thread: to give one is a
 * TypeError. A worker that is terminated while it blocks notices within 50 ms, and leaves the line.
 */
export interface SyncWaitOptions {
  /** Higher goes first, among promises too. Not NaN. @default 0 */
  priority?: number
  /** The longest wait in milliseconds, 0 or more; 0 never blocks. @default Infinity */
  timeout?: number
}

export interface WeightedSyncWaitOptions extends SyncWaitOptions {
  /** How much to take from the value. @default 1 */
  weight?: number
}

/**
 * Lets go of one grant: call it, call its `release()`, or leave it to `using`. Once is enough: when
 * its grant is over, whoever ended it, it does nothing.
 *
 * @example
 * const mutex = new Mutex()
 * const release = await mutex.acquire()
 * try {
 *   // alone
 * } finally {
 *   release()
 * }
 *
 * @example
 * {
 *   using _ = await mutex.acquire()
 *   assert.equal(mutex.isLocked(), true)
 * }
 * assert.equal(mutex.isLocked(), false)
 */
export interface Releaser extends Disposable, AsyncDisposable {
  (): void
  release(): void
  /**
   * The last holder died with the lock: look at what it left. (The other ways to lock are not told, and
   * the news is gone with them. Who could not have all of several keys leaves it to the next one.)
   */
  readonly abandoned: boolean
  /**
   * Of scope `'host'`: the number of this grant, which is larger than that of any grant of the lock (or the key)
   * that was over before this one began; whatever crashed in between, and also where the files have been removed.
   * Store it with what the lock protects, and refuse to write where a larger one is stored: so a process that
   * was stopped for a while, and lost the lock, does no harm. Drawn when it is first asked for: after the end of
   * the grant it is undefined, unless it was asked for before. Of several keys at once it is one number, for all of them.
   *
   * Of a lock over an {@link Engine}: the same, also after a failover of its server (docs/engines.md), and known from the
   * start. Where several keys were locked at once it is undefined: see `fencingTokens`.
   */
  readonly fencingToken?: bigint
  /**
   * Of several keys that were locked at once over an {@link Engine}: the fencing token of each. (They are for the store of
   * that key: they do not compare with each other.)
   */
  readonly fencingTokens?: ReadonlyMap<Key, bigint>
  /**
   * Of a lock over an {@link Engine}: aborted, with an error of code `ERR_LOCK_LOST`, when the lock has been lost while
   * it was held, before the server can give it to anybody else. Of several keys: when the first of them has been lost.
   */
  readonly signal?: AbortSignal
}

/**
 * What acquiring a semaphore gives: an array of the value before, and the Releaser. `using` takes the array as well
 * as the Releaser. Of several keys: the value of each before.
 *
 * @example
 * const semaphore = new Semaphore(2)
 * {
 *   using ticket = await semaphore.acquire()
 *   assert.equal(ticket[0], 2)
 *   assert.equal(semaphore.getValue(), 1)
 * }
 * assert.equal(semaphore.getValue(), 2)
 */
export type SemaphoreTicket<Value = number> = [Value, Releaser] & Disposable & AsyncDisposable

export interface MutexInterface {
  acquire(options?: number | WaitOptions): Promise<MutexInterface.Releaser>
  runExclusive<T>(callback: MutexInterface.Worker<T>, options?: number | WaitOptions): Promise<T>
  waitForUnlock(options?: number | WaitOptions): Promise<void>
  isLocked(): boolean
  release(): void
  cancel(reason?: unknown): void
}

export namespace MutexInterface {
  export type Releaser = () => void
  export type Worker<T> = () => Promise<T> | T
}

export interface SemaphoreInterface {
  acquire(
    weight?: number,
    options?: number | WaitOptions,
  ): Promise<[number, SemaphoreInterface.Releaser]>
  acquire(options: WeightedWaitOptions): Promise<[number, SemaphoreInterface.Releaser]>
  runExclusive<T>(
    callback: SemaphoreInterface.Worker<T>,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  waitForUnlock(
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>
  isLocked(): boolean
  getValue(): number
  setValue(value: number): void
  release(weight?: number): void
  cancel(reason?: unknown): void
}

export namespace SemaphoreInterface {
  export type Releaser = () => void
  export type Worker<T> = (value: number) => Promise<T> | T
}

export interface CancelOptions {
  /** What `cancel()` rejects with, unless it is given a reason. @default E_CANCELED */
  cancelError?: unknown
}

/** Who shares a lock, and how it behaves. All threads must construct it alike. */
export interface LockOptions {
  /**
   * All threads of the process that construct a lock of this kind with this name have one lock. (A
   * KeyedMutex of that name is another kind.) It lives as long as an object for it does, somewhere, and
   * longer while it is not as it was at first; the name of a keyed map, as long as a thread that has used it.
   */
  name?: string

  /**
   * `'bounded'`: while others wait, a thread may go on with its own next waiter for 1 ms at most, or take the lock
   * again before the next waiter of another thread has woken up. A waiter that is awake and has been overtaken for
   * 1 ms gets the lock next. Handing over to another thread costs a thousand times as much as going on. `'fifo'`:
   * never; strictly first come, first served, for waiters of an object with this option. Within a thread it always
   * is.
   *
   * @default 'bounded'
   */
  fairness?: 'bounded' | 'fifo'

  /**
   * Let the methods whose names end in `Sync` block the main thread. While it blocks, no promise, timer or
   * connection of that thread gets on.
   *
   * @default false
   */
  allowBlockingMainThread?: boolean
}

/**
 * What locks reach as far as, in place of one process: all processes that have an engine for the same server, such as
 * `redis(client)` of `boxoffice/redis` makes one. To be given to the constructors of {@link Mutex} and {@link RWLock} (with a
 * `name`), {@link KeyedMutex}, {@link KeyedSemaphore}, {@link KeyedRWLock} and {@link LockManager}: docs/engines.md.
 *
 * The methods whose names begin with `try` or end in `Sync` throw a TypeError there: what they promise cannot be known
 * without waiting for the server. `acquire(key, { timeout: 0 })` asks it once. What can be looked at, such as
 * `isLocked()`, `size` and `snapshot()`, tells of this thread. A server that does not answer within `timeout`, or
 * the engine's `answerTimeout` if that is less, rejects with `ERR_LOCK_ENGINE`.
 */
export interface Engine extends AsyncDisposable {
  /**
   * Gives back all that this thread holds, aborts the `signal` of each Releaser, and closes the connections that the
   * engine has made: not the client that it was given. Who waits is rejected with `ERR_LOCK_ENGINE`. Rejects, when
   * all of that is done, if the server could not be told, with `ERR_LOCK_ENGINE` where it has not answered within
   * `answerTimeout`: it finds out within `ttl`.
   */
  close(): Promise<void>
}

/** What all engines take. Times are in milliseconds, from 100 to 2^31 - 1. */
export interface EngineOptions {
  /**
   * How long the server keeps what a process holds after it was last heard of. A thread of its own renews it three
   * times as often, also while the event loop is blocked. @default 10_000
   */
  ttl?: number
  /** How long one lease is kept at most. A holder has at least half of it. Not less than `ttl`. @default 60_000 */
  maxHold?: number
  /** How long the server may take to answer, where the caller's `timeout` is not over before. @default 5000 */
  answerTimeout?: number
}

export interface EngineChoice {
  /** The lock reaches as far as this engine. */
  engine?: Engine
}

export interface BufferOptions {
  /**
   * Where the lock lies, instead of a name: all threads that construct it in the same place of the same
   * buffer share it.
   */
  buffer?: SharedArrayBuffer

  /**
   * Where in `buffer` it begins, in bytes: a multiple of 4. A Mutex, a RecursiveMutex, an RWLock and a
   * ConditionVariable take 4 bytes, all others 8. They must be 0 before the first is constructed there, and no
   * other lock may lie there.
   *
   * @default 0
   */
  byteOffset?: number

  /**
   * The lock lies in shared memory of its own from the start: its `buffer`, which other threads construct it with.
   * A lock with none of `name`, `buffer` and `shared` is of one thread and has no `buffer`.
   *
   * @default false
   */
  shared?: boolean
}

/**
 * How far a lock reaches. Of scope `'host'`: all processes of this machine that run as this user, and all
 * their threads. They find the lock by its kind and its `name`. What differs from a lock of threads:
 *
 * - when a process ends that holds it, be it by SIGKILL, the next one gets it, and its Releaser says `abandoned`.
 * - its Releasers have a {@link Releaser.fencingToken}, and snapshots tell the processes.
 * - it has no `buffer`, and a ConditionVariable takes none of them. `cancel()` is for those of this thread.
 * - a wait keeps the process alive, unless this very thread holds the lock: another process could let go.
 * - fairness is bounded among processes, too; those of one process stand in one line.
 *
 * The constructor throws an Error that says what is wrong and what to do: `ERR_LOCK_UNSUPPORTED` where there are
 * no such locks (macOS and Windows, for now; a network's file system), `ERR_LOCK_SEGMENT` when the directory or a
 * file there is not what it should be or cannot be had, `ERR_LOCK_CAPACITY` when 127 processes have locks
 * there already, `ERR_LOCK_MISMATCH` when it has been made with another value or capacity.
 *
 * @example
 * // In each worker of a cluster: a user's requests go one after the other, whichever worker has them.
 * const users = new KeyedMutex({ scope: 'host', name: 'users' })
 * app.post('/tickets', (request, response, next) => {
 *   users
 *     .runExclusive(request.user, async () => {
 *       const order = await findOrder(request.user)
 *       return order ?? (await createOrder(request.user))
 *     })
 *     .then((order) => response.json(order), next)
 * })
 */
export interface HostOptions {
  /**
   * `'process'`: all threads of this process, if there is a `name`, a `buffer` or `shared: true`, else this one.
   *
   * @default 'process'
   */
  scope?: 'process' | 'host'

  /**
   * Where the lock's file lies, an absolute path: all processes must say the same. Made with mode 0700 where it
   * is not there; else it must be this user's own, and no others may write there. For containers: a volume
   * that they share, in memory or on a local disk, not of a network.
   *
   * @default the environment's BOXOFFICE_DIRECTORY, else /dev/shm/boxoffice-<user id>
   */
  directory?: string
}

export interface KeyedHostOptions extends HostOptions {
  /**
   * Of scope `'host'`: how many keys may be held or waited for at once, by all processes together; from 1 to
   * 2^24. One more is `ERR_LOCK_CAPACITY`. The first one to construct it decides, and whoever asks for another
   * capacity later gets `ERR_LOCK_MISMATCH`. A key takes 0.3 KB of memory, of a read-write lock 0.4, of a
   * semaphore 1.5, whether it is in use or not.
   *
   * @default 65,536; of a KeyedRWLock and a LockManager 16,384, of a KeyedSemaphore 4,096
   */
  capacity?: number
}

/** Of scope `'host'`: the processes that have to do with a lock, by their ids. */
export interface HostSnapshot {
  /** Those that hold it. */
  holderPids?: number[]
  /** Those that wait for it. `waiting` counts those of this process. */
  waiterPids?: number[]
}

/**
 * What is to be seen of a lock, and what of it is reported. See docs/diagnostics.md.
 *
 * All objects of a thread that stand for one lock should be given the same: what an object without diagnostics
 * does is not seen by the others.
 *
 * @example
 * const orders = new Mutex({ name: 'watched orders', diagnostics: true, warnAfter: 5000 })
 * const release = await orders.acquire()
 * const { holders, waiting, totals } = orders.snapshot()
 * assert.equal(holders[0].thread, 0)
 * assert.equal(waiting, 0)
 * assert.equal(totals.acquisitions, 1)
 * release()
 */
export interface DiagnosticsOptions {
  /**
   * `'counters'`: who holds the lock since when, its line, totals, how long was waited, and events. `true`: all
   * that, with the stack of each acquire, deadlock detection, and a warning when a {@link Releaser} is collected as
   * garbage before it was called. `false`: nothing, and nothing is paid for it.
   *
   * On Bun, which has no hooks to find deadlocks by, true throws `ERR_LOCK_UNSUPPORTED`; on Deno it finds none.
   *
   * A lock that is not of this kind (an event, a barrier, a latch, a condition variable, the philosophers, a
   * {@link LockManager}, which has `query()`) takes none.
   *
   * Anything else is a TypeError, and so is true or `'counters'` for a lock that takes none.
   *
   * @default what the environment variable BOXOFFICE_DIAGNOSTICS says, which is read when the package is loaded: `1`
   * or `true`, `counters`, `0` or `false`. Unset or empty means false. Any other text is a TypeError then
   */
  diagnostics?: boolean | 'counters'

  /**
   * Warn once of each hold that takes longer than that many milliseconds, by `process.emitWarning`: a warning named
   * BoxofficeWarning with the code BOXOFFICE_LONG_HOLD. By itself it brings `diagnostics: 'counters'` along.
   * Fractions count; more than 2^31 - 1 ms are never over. A thread has one timer for all, which keeps nothing alive.
   * A TypeError when it is no number; a RangeError when it is NaN, 0 or less.
   *
   * @default no warning
   */
  warnAfter?: number
}

/** How a lock is held, or wanted: exclusively, or shared with others. A semaphore knows weights only. */
export type HoldMode = 'exclusive' | 'shared'

/** Who holds a lock. */
export interface LockHolder {
  /** The `threadId` (of node:worker_threads) of the holder: 0 is the main thread. None, where another process is it. */
  thread?: number
  /** Of scope `'host'`: the process of the holder. */
  pid?: number
  /**
   * Since when, in milliseconds since the epoch. A lock that was free is held since a moment in the same turn of the
   * event loop, which may be a bit earlier than the acquire. None, where it is held elsewhere: in another process, or
   * in another thread than the one asked.
   */
  since?: number
  /** For how many milliseconds. */
  heldFor?: number
  mode?: HoldMode
  /** Of a semaphore: how much of it. With `'counters'` what is held since one turn of the event loop is one holder. */
  weight?: number
  /** With `diagnostics: true`: where it was acquired. */
  stack?: string
}

/** Counted from the moment when the lock was constructed. */
export interface LockTotals {
  /** How often it was granted. A downgrade and the way back from a condition variable are grants, too. */
  acquisitions: number
  /** How many of those grants had been waited for. */
  contended: number
  /** How many gave up when their timeout was over. */
  timeouts: number
  /** How many gave up by their signal or by `cancel()`, or since the server of an engine was away. */
  aborts: number
  /** How many of the grants told of a holder that had died. */
  abandoned: number
  /** How many were refused, since they would have closed a circle (`ERR_LOCK_DEADLOCK`). */
  deadlocks: number
}

/** How long the contended grants were waited for, in milliseconds. */
export interface LockWaits {
  /** Exact to a power of two: no less than the wait that it stands for, and less than twice of it. */
  p50: number
  p90: number
  p99: number
  /** Exact. */
  max: number
  /** How many waits took less than 2^i microseconds, and not less than half of that; the last is open. */
  buckets: number[]
}

/** What the snapshot of a lock with diagnostics has besides. */
export interface LockDiagnostics {
  /** Who holds it: those of this thread, and whatever is known of others. */
  holders?: LockHolder[]
  /** For how many milliseconds the first of this thread that waits has done so. */
  oldestWait?: number
  /** Of this thread. Of a keyed map they are for all its keys together: see {@link snapshot}. */
  totals?: LockTotals
  /** Of this thread. */
  waits?: LockWaits
}

/** A lock, or a key of a keyed map, in a {@link ProcessSnapshot}. */
export interface LockReport {
  kind:
    | 'Mutex'
    | 'RecursiveMutex'
    | 'Semaphore'
    | 'RWLock'
    | 'KeyedMutex'
    | 'KeyedSemaphore'
    | 'KeyedRWLock'
  name?: string
  /** Of a keyed map there is one report without a key, for its totals, and one for each key that is held or waited for. */
  key?: Key
  /** `'cluster'`: over an {@link Engine}. */
  scope: 'process' | 'host' | 'cluster'
  /** The thread that alone knows the lock; none, where threads share it. */
  thread?: number
  /** Tells locks apart that have no name: the same in each snapshot. */
  id: string
  /** Each holder once, of all threads that answered. */
  holders: LockHolder[]
  /** How many wait, promises and blocked threads. */
  waiting: number
  /** For how many milliseconds the first of all threads has waited. */
  oldestWait?: number
  /** Of all threads together. A key has none of its own. */
  totals?: LockTotals
  waits?: LockWaits
}

/** A deadlock that was found, and refused. */
export interface DeadlockReport {
  /** When, in milliseconds since the epoch. */
  at: number
  /** The message of the error, which draws the circle. */
  message: string
  /** Whoever waits, for what, and what it holds meanwhile. */
  cycle: DeadlockStep[]
}

export interface DeadlockStep {
  thread: number
  waitsFor: DeadlockLock
  holds: DeadlockLock[]
}

export interface DeadlockLock {
  kind: LockReport['kind']
  name?: string
  key?: Key
  /** Where it was acquired, or is asked for. */
  stack?: string
}

export interface ProcessSnapshot {
  /** When, in milliseconds since the epoch. */
  at: number
  pid: number
  /** Threads that have a lock with diagnostics. One that is blocked, or busy for longer than 250 ms, has not answered. */
  threads: { id: number; answered: boolean }[]
  locks: LockReport[]
  /** The last deadlocks that were refused, newest last. */
  deadlocks: DeadlockReport[]
}

/**
 * What all locks with diagnostics of this process are doing, in all threads. Each thread is asked, and answers in a
 * turn of its own event loop, so that the parts are of slightly different moments. It resolves when all have answered,
 * or after 250 ms; it never rejects. A pending snapshot keeps the event loop alive.
 *
 * @example
 * const users = new KeyedMutex({ name: 'watched users', diagnostics: 'counters' })
 * await users.runExclusive('ann', async () => {
 *   const { locks } = await snapshot()
 *   const ann = locks.find(({ name, key }) => name === 'watched users' && key === 'ann')
 *   assert.equal(ann.kind, 'KeyedMutex')
 *   assert.equal(ann.holders.length, 1)
 *   assert.equal(ann.waiting, 0)
 * })
 */
export function snapshot(): Promise<ProcessSnapshot>

/** What the channels `boxoffice:...` of node:diagnostics_channel tell. See docs/diagnostics.md. */
export interface LockEvent {
  kind: LockReport['kind']
  name?: string
  key?: Key
  scope: LockReport['scope']
  mode?: HoldMode
  /** Of a semaphore. */
  weight?: number
  /** The thread that it happened in. */
  thread: number
  /** `boxoffice:admit`, `:abort` and `:timeout`: how many milliseconds were waited. */
  waited?: number
  /** `boxoffice:release`: for how many milliseconds it was held. */
  held?: number
  /** `boxoffice:abort`: what the acquire rejects with. `boxoffice:deadlock`: the error, with its `cycle`. */
  reason?: unknown
}

export interface MutexSnapshot extends HostSnapshot, LockDiagnostics {
  locked: boolean
  /** How many wait for it, promises and blocked threads. */
  waiting: number
}

export interface SemaphoreSnapshot extends HostSnapshot, LockDiagnostics {
  value: number
  waiting: number
}

export interface RWLockSnapshot extends HostSnapshot, LockDiagnostics {
  readers: number
  written: boolean
  waiting: number
}

export interface MutexOptions
  extends LockOptions,
    BufferOptions,
    CancelOptions,
    HostOptions,
    EngineChoice,
    DiagnosticsOptions {}
export interface SemaphoreOptions
  extends LockOptions,
    BufferOptions,
    CancelOptions,
    HostOptions,
    DiagnosticsOptions {}
export interface KeyedOptions
  extends LockOptions,
    CancelOptions,
    KeyedHostOptions,
    EngineChoice,
    DiagnosticsOptions {}
export interface ConditionVariableOptions extends LockOptions, BufferOptions {}

export interface EventOptions extends LockOptions, BufferOptions {
  /** Whether it is set at first. @default false */
  isSet?: boolean
}

/**
 * A mutual exclusion lock, held across `await`. A superset of async-mutex's: change the import.
 * Within a thread strictly first come, first served (within a priority). When the thread that holds a shared
 * mutex ends, the next one gets it, and its Releaser says `abandoned`.
 *
 * @example
 * const mutex = new Mutex()
 * app.post('/tickets', (request, response, next) => {
 *   mutex
 *     .runExclusive(async () => {
 *       const order = await findOrder(request.user)
 *       return order ?? (await createOrder(request.user))
 *     })
 *     .then((order) => response.json(order), next)
 * })
 *
 * @example
 * // One mutex for all threads: each of them constructs it with the same name.
 * const orders = new Mutex({ name: 'orders' })
 *
 * @example
 * // The same by memory. In worker.js: new Mutex({ buffer: workerData })
 * const mutex = new Mutex({ shared: true })
 * new Worker('./worker.js', { workerData: mutex.buffer })
 */
export class Mutex implements MutexInterface {
  /**
   * @param options or, as in async-mutex, the error that `cancel()` rejects with.
   * @throws {TypeError} when an option is of the wrong type.
   * @throws {RangeError} when `buffer` is too small or `byteOffset` out of range.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   */
  constructor(options?: Error | MutexOptions)

  /**
   * Locks it in its turn.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  acquire(options?: number | WaitOptions): Promise<Releaser>

  /** Locks it now, or gives undefined: somebody holds it. */
  tryAcquire(): Releaser | undefined

  /**
   * Runs `callback` while nobody else holds the mutex, and lets go when it is through, also when it
   * throws. Never calls it before it returns. Rejects with whatever `callback` throws or rejects
   * with, and with what acquire would throw.
   */
  runExclusive<T>(callback: () => Promise<T> | T, options?: number | WaitOptions): Promise<T>

  /** {@link Mutex.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(callback: () => Promise<T> | T, options?: number | WaitOptions): Promise<T>

  /** acquire without a Releaser, and the fastest: whoever has locked calls {@link Mutex.unlock}. */
  lock(options?: number | WaitOptions): Promise<void>

  /** Locks it now, or says no. */
  tryLock(): boolean

  /**
   * Locks it, and blocks this thread until it can. Blocked threads and promises stand in one line.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when this
   * thread holds the mutex already, or a promise of this thread waits for it.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when
   * an option is of the wrong type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  lockSync(options?: SyncWaitOptions): void

  /** {@link Mutex.lockSync} with a Releaser. */
  acquireSync(options?: SyncWaitOptions): Releaser

  /**
   * Runs `callback` at once or after blocking this thread, lets go, and returns what it returns.
   *
   * A `node:vm` script with a `timeout` that is cut off in `callback` runs no `finally`: the lock stays held. Take the
   * lock outside the script, or call {@link Mutex.release} in the `catch` around `runInContext`.
   */
  runExclusiveSync<T>(callback: () => T, options?: SyncWaitOptions): T

  /**
   * Lets the next one in.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold the mutex.
   */
  unlock(): void

  /**
   * As in async-mutex: unlocks it, whoever of this thread holds it. Unlocked, it does nothing.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when another thread holds it.
   */
  release(): void

  /**
   * Resolves when it could have been had; those who wait to acquire go first. Takes nothing. (On a
   * mutex that threads share it stands in line, and passes the lock on in the same turn.)
   */
  waitForUnlock(options?: number | WaitOptions): Promise<void>

  /** Whether anybody holds it: in the next moment that may have changed. */
  isLocked(): boolean

  /**
   * Rejects all of this thread who wait to acquire. The holder is left alone, and so are waitForUnlock and
   * who has been notified of a condition; these two enter the line anew where threads share it.
   */
  cancel(reason?: unknown): void

  /**
   * The memory that the mutex lies in, to be sent to other threads.
   *
   * @throws {TypeError} unless the mutex was constructed with `shared: true` or a `buffer`.
   */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number

  /** What there is to see of it in this moment. */
  snapshot(): MutexSnapshot
}

/**
 * A counting semaphore with weights and priorities. A superset of async-mutex's: change the import.
 * Values and weights are integers, from -2^29 to 2^29 - 1. The head of the line keeps lighter ones of
 * its own or lower priority behind it. When a thread ends that shares it, what its Releasers would have put back
 * goes back, but the value does not pass the one at first by it: what was taken as a signal stays taken. The next
 * to acquire gets `abandoned`.
 *
 * @example
 * const connections = new Semaphore(10)
 * await connections.runExclusive(() => query())
 *
 * @example
 * // Ten connections for all threads together.
 * const connections = new Semaphore(10, { name: 'connections' })
 */
export class Semaphore implements SemaphoreInterface {
  /**
   * @param value How much there is at first, in all threads that share it: an integer from -2^29 to 2^29 - 1.
   * @param options or, as in async-mutex, the error that `cancel()` rejects with.
   * @throws {TypeError | RangeError} when `value` or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when it is there already with another value, or another kind of
   * lock is.
   */
  constructor(value: number, options?: Error | SemaphoreOptions)

  /**
   * Takes `weight` from the value in its turn. Resolves to the value before, and a Releaser that puts
   * the weight back.
   *
   * @throws {RangeError} at once: `invalid weight N: must be positive`.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  acquire(weight?: number, options?: number | WaitOptions): Promise<SemaphoreTicket>
  acquire(options: WeightedWaitOptions): Promise<SemaphoreTicket>

  /** Takes `weight` now, or gives undefined: too little is there, or somebody waits. */
  tryAcquire(weight?: number): SemaphoreTicket | undefined

  /** Runs `callback(valueBefore)` while it has `weight`. Never calls it before it returns. */
  runExclusive<T>(
    callback: (value: number) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>

  /** {@link Semaphore.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    callback: (value: number) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>

  /**
   * Takes `weight` in its turn, and blocks this thread until it can.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when no other
   * thread knows the semaphore.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  acquireSync(weight?: number, options?: SyncWaitOptions): SemaphoreTicket
  acquireSync(options: WeightedSyncWaitOptions): SemaphoreTicket

  /** Runs `callback(valueBefore)` at once or after blocking this thread, and returns what it returns. */
  runExclusiveSync<T>(
    callback: (value: number) => T,
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): T

  /** Resolves when `weight` could have been had; those who wait to acquire go first. */
  waitForUnlock(
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>

  /** Whether the value is 0 or less. */
  isLocked(): boolean
  getValue(): number
  /** Sets the value, and lets in whoever fits then. @throws {RangeError} out of range. */
  setValue(value: number): void

  /**
   * Adds to the value, whoever has taken from it, and lets in whoever fits then.
   *
   * @throws {RangeError} when the value would pass 2^29 - 1 (`ERR_LOCK_RANGE`); nothing has changed.
   */
  release(weight?: number): void

  /** Rejects all of this thread who wait to acquire. Holders and waitForUnlock are left alone. */
  cancel(reason?: unknown): void

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number

  /** What there is to see of it in this moment. */
  snapshot(): SemaphoreSnapshot
}

/** Keys of different types are different keys: 1 is not '1'. NaN is none. */
export type Key = string | number | bigint

/**
 * A mutex for each key, which exists only while somebody holds or waits for it: nothing to create
 * first, nothing to clean up after. (The last 256 idle keys at most are remembered, for speed.)
 *
 * @example
 * const locks = new KeyedMutex()
 * app.post('/tickets', (request, response, next) => {
 *   locks
 *     .runExclusive(request.user, async () => {
 *       const order = await findOrder(request.user)
 *       return order ?? (await createOrder(request.user))
 *     })
 *     .then((order) => response.json(order), next)
 * })
 *
 * @example
 * // Several keys at once: no order of the caller's can deadlock.
 * const transfer = (from, to) => locks.runExclusive([from, to], () => move(from, to))
 * await Promise.all([transfer('ada', 'bob'), transfer('bob', 'ada')])
 *
 * @example
 * // One map for all threads.
 * const locks = new KeyedMutex({ name: 'tickets' })
 */
export class KeyedMutex {
  /**
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError | RangeError} when an option is not what it should be; and what {@link HostOptions} says.
   */
  constructor(options?: Error | KeyedOptions)

  /**
   * Locks a key, or all of several, in its turn. Several keys are taken in an order of their own, each
   * once; a timeout is for all of them together, and whoever gives up holds none.
   *
   * @throws {TypeError | RangeError} at once for one key, when it or an option is not what it should
   * be; with several keys the promise rejects.
   */
  acquire(key: Key | readonly Key[], options?: number | WaitOptions): Promise<Releaser>
  /** Locks all now, or gives undefined and holds none. */
  tryAcquire(key: Key | readonly Key[]): Releaser | undefined
  /** Runs `callback` while nobody else holds the keys. Never calls it before it returns. */
  runExclusive<T>(
    key: Key | readonly Key[],
    callback: () => Promise<T> | T,
    options?: number | WaitOptions,
  ): Promise<T>
  /** {@link KeyedMutex.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    key: Key | readonly Key[],
    callback: () => Promise<T> | T,
    options?: number | WaitOptions,
  ): Promise<T>

  lock(key: Key, options?: number | WaitOptions): Promise<void>
  tryLock(key: Key): boolean

  /** As {@link Mutex.lockSync}. */
  lockSync(key: Key, options?: SyncWaitOptions): void
  /** The same with a Releaser, for one key or several; `timeout` is for all of them together. */
  acquireSync(key: Key | readonly Key[], options?: SyncWaitOptions): Releaser
  runExclusiveSync<T>(key: Key | readonly Key[], callback: () => T, options?: SyncWaitOptions): T

  /** @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold it. */
  unlock(key: Key): void
  /**
   * Unlocks it, whoever of this thread holds it. Unlocked, it does nothing.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when another thread holds it.
   */
  release(key: Key): void

  waitForUnlock(key: Key, options?: number | WaitOptions): Promise<void>
  isLocked(key: Key): boolean
  /** Rejects all of this thread who wait for this key. */
  cancel(key: Key, reason?: unknown): void
  /** Rejects all of this thread who wait for any key. */
  cancelAll(reason?: unknown): void

  /**
   * How many keys are held or waited for: by any thread, if they share the map; then a key whose holder died
   * counts until the next one has been told.
   */
  readonly size: number
  /** The keys that are held or waited for at this moment. */
  keys(): IterableIterator<Key>
  /** Each key that is held or waited for. */
  snapshot(): ({ key: Key } & MutexSnapshot)[]
}

/**
 * A semaphore for each key, all of the same value at first.
 *
 * @example
 * const uploads = new KeyedSemaphore(3) // three at a time for each user
 * const upload = (user, file) => uploads.runExclusive(user, () => store(file))
 * await Promise.all([upload('ada', 'a.png'), upload('ada', 'b.png'), upload('bob', 'c.png')])
 */
export class KeyedSemaphore {
  /**
   * @param value How much each key has at first: 1 to 2^29 - 1.
   * @param options or the error that `cancel()` rejects with.
   * @throws {Error} `ERR_LOCK_MISMATCH` when a map of that name has another value.
   * @throws {TypeError | RangeError} when `value` or an option is not what it should be; and what {@link HostOptions} says.
   */
  constructor(value: number, options?: Error | KeyedOptions)

  /** As {@link Semaphore.acquire}. @throws {RangeError} when `weight` is more than each key has. */
  acquire(key: Key, weight?: number, options?: number | WaitOptions): Promise<SemaphoreTicket>
  acquire(key: Key, options: WeightedWaitOptions): Promise<SemaphoreTicket>
  /** Several keys at once, each once, `weight` of each; the values are in the order of taking. */
  acquire(
    keys: readonly Key[],
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<SemaphoreTicket<number[]>>
  tryAcquire(key: Key, weight?: number): SemaphoreTicket | undefined
  tryAcquire(keys: readonly Key[], weight?: number): SemaphoreTicket<number[]> | undefined
  runExclusive<T>(
    key: Key,
    callback: (value: number) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  runExclusive<T>(
    keys: readonly Key[],
    callback: (values: number[]) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  /** {@link KeyedSemaphore.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(
    key: Key,
    callback: (value: number) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>
  executeLocked<T>(
    keys: readonly Key[],
    callback: (values: number[]) => Promise<T> | T,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<T>

  /** As {@link Semaphore.acquireSync}. */
  acquireSync(key: Key, weight?: number, options?: SyncWaitOptions): SemaphoreTicket
  acquireSync(key: Key, options: WeightedSyncWaitOptions): SemaphoreTicket
  /** `timeout` is for all keys together. */
  acquireSync(
    keys: readonly Key[],
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): SemaphoreTicket<number[]>
  runExclusiveSync<T>(
    key: Key,
    callback: (value: number) => T,
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): T
  runExclusiveSync<T>(
    keys: readonly Key[],
    callback: (values: number[]) => T,
    weight?: number | WeightedSyncWaitOptions,
    options?: SyncWaitOptions,
  ): T

  /**
   * Puts `weight` back, whoever has taken it.
   *
   * @throws {RangeError} `ERR_LOCK_RANGE` when the key would have more than at first.
   */
  release(key: Key, weight?: number): void
  waitForUnlock(
    key: Key,
    weight?: number | WeightedWaitOptions,
    options?: number | WaitOptions,
  ): Promise<void>
  /** Whether nothing is left of this key. */
  isLocked(key: Key): boolean
  getValue(key: Key): number
  /** Rejects all of this thread who wait for this key. */
  cancel(key: Key, reason?: unknown): void
  /** Rejects all of this thread who wait for any key. */
  cancelAll(reason?: unknown): void

  /**
   * How many keys are held or waited for: by any thread, if they share the map; then a key whose holder died
   * counts until the next one has been told.
   */
  readonly size: number
  keys(): IterableIterator<Key>
  /** Each key that is held or waited for. */
  snapshot(): ({ key: Key } & SemaphoreSnapshot)[]
}

/** What AutoResetEvent and ManualResetEvent have in common. */
declare abstract class WaitableEvent {
  /**
   * Resolves when it lets this one through. Rejects with `ERR_LOCK_TIMEOUT` when `timeout` has passed before, and with
   * `signal.reason` on abort.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  wait(options?: number | WaitOptions): Promise<void>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when no other
   * thread knows the event.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  waitSync(options?: SyncWaitOptions): void

  /** Goes through now, or says no. */
  tryWait(): boolean
  /** Whether it would let somebody through: in the next moment that may have changed. */
  isSet(): boolean

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}

/**
 * Lets one waiter through for each signal. A signal that finds nobody is kept for the next to come; more of
 * them are one.
 *
 * @example
 * // Somebody who sleeps until there is work. (A worker with no promises of its own may block: waitSync.)
 * const jobs = []
 * const done = []
 * const work = new AutoResetEvent()
 * const working = (async () => {
 *   while (done.length < 3) {
 *     await work.wait()
 *     done.push(...jobs.splice(0)) // all there is: signals that come together are one
 *   }
 * })()
 *
 * for (const job of ['a', 'b', 'c']) {
 *   jobs.push(job)
 *   work.signal()
 * }
 * await working
 * assert.deepEqual(done, ['a', 'b', 'c'])
 */
export class AutoResetEvent extends WaitableEvent {
  /**
   * @throws {TypeError | RangeError} when an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   */
  constructor(options?: EventOptions)
  /** Lets the next one through, be it there already or not. */
  signal(): void
}

/**
 * Lets everybody through while it is set.
 *
 * @example
 * const ready = new ManualResetEvent()
 * connect().then(() => ready.set())
 * app.use((_request, _response, next) => {
 *   ready.wait({ timeout: 5000 }).then(next, next)
 * })
 */
export class ManualResetEvent extends WaitableEvent {
  /**
   * @throws {TypeError | RangeError} when an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   */
  constructor(options?: EventOptions)
  /** Lets through all who wait, and all who come, until `reset()`. */
  set(): void
  reset(): void
}

/**
 * Waits until something has become true that a Mutex guards. A wait lets go of the mutex, and has it again
 * when it settles, however it does; Releasers and runExclusive go on with it. Nobody is woken for nothing, but
 * another may have come first: wait in a loop.
 *
 * @example
 * const mutex = new Mutex()
 * const notEmpty = new ConditionVariable()
 * const queue = []
 * const take = () =>
 *   mutex.runExclusive(async () => {
 *     while (queue.length === 0) await notEmpty.wait(mutex)
 *     return queue.shift()
 *   })
 * const put = (item) =>
 *   mutex.runExclusive(() => {
 *     queue.push(item)
 *     notEmpty.notifyOne()
 *   })
 *
 * const taken = take()
 * await put('a ticket')
 * assert.equal(await taken, 'a ticket')
 */
export class ConditionVariable {
  /**
   * It is shared by threads, or not, as the mutexes that it is used with.
   *
   * @throws {TypeError | RangeError} when an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   */
  constructor(options?: ConditionVariableOptions)

  /**
   * Lets go of `mutex`, waits to be notified, and locks it again. Rejects with `ERR_LOCK_TIMEOUT` or the
   * signal's reason, holding the mutex; so does it at once where there is no time to wait.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when this thread does not hold `mutex`.
   * @throws {TypeError} when `mutex` is no Mutex, or one over an engine, or not shared as the condition is.
   */
  wait(mutex: Mutex, options?: Omit<WaitOptions, 'priority'>): Promise<void>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; the mutex is locked again all the same.
   * `ERR_LOCK_DEADLOCK` when no other thread could notify, or a promise of this thread waits for `mutex` or
   * for the condition.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  waitSync(mutex: Mutex, options?: Omit<SyncWaitOptions, 'priority'>): void

  /** Lets the one go on that has waited longest. Whoever changes the condition does so holding the mutex. */
  notifyOne(): void
  notifyAll(): void

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}

/** Lets go of one read, as a {@link Releaser} does; or upgrades it. */
export interface ReadReleaser extends Releaser {
  /**
   * From reader to writer, once the other readers have let go, before everybody in line; no new readers come in
   * meanwhile. Resolves to the writer's Releaser, and this one's grant is over. However else it ends, the
   * caller reads on: rejects with `ERR_LOCK_UPGRADE` at once when another reader is upgrading (each would wait
   * for the other: one has to let go) or this one is already, with `ERR_LOCK_TIMEOUT`, with the signal's reason, and with
   * `ERR_LOCK_NOT_HELD` when this Releaser lets go meanwhile. Over an {@link Engine} readers are those of all machines; there
   * it rejects with `ERR_LOCK_ENGINE`, too, and with `ERR_LOCK_LOST` when the lease is lost that it reads by.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when its grant is over.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   *
   * @example
   * const lock = new RWLock()
   * const reader = await lock.acquireRead()
   * const writer = await reader.upgrade({ timeout: 100 })
   * assert.ok(lock.isWriteLocked())
   * writer.downgrade().release()
   */
  upgrade(options?: Omit<WaitOptions, 'priority'>): Promise<WriteReleaser>

  /** The same now, or undefined: others read, or it is upgrading already. @throws {Error} `ERR_LOCK_NOT_HELD` when its grant is over. */
  tryUpgrade(): WriteReleaser | undefined

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_UPGRADE`, `ERR_LOCK_TIMEOUT`; `ERR_LOCK_DEADLOCK` when another reader of this
   * thread would have to let go, one included that only waits; `ERR_LOCK_NOT_HELD` when its grant is over.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  upgradeSync(options?: Omit<SyncWaitOptions, 'priority'>): WriteReleaser
}

/** Lets the writer go, as a {@link Releaser} does; or makes it a reader. */
export interface WriteReleaser extends Releaser {
  /**
   * From writer to reader, without letting another writer in between; readers at the head of the line come in,
   * too. Gives the reader's Releaser, and this one's grant is over.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when its grant is over.
   */
  downgrade(): ReadReleaser
}

export interface RWLockOptions
  extends LockOptions,
    BufferOptions,
    CancelOptions,
    HostOptions,
    EngineChoice,
    DiagnosticsOptions {}

/**
 * A read-write lock: readers share it, a writer is alone. Nobody starves: who comes while somebody waits
 * stands in line behind, readers behind writers, too. (So a reader that reads again while a writer
 * waits, waits for itself.)
 *
 * When a thread ends that shares it, its reads are over; if it was the writer, the next one in is told
 * (`releaser.abandoned`).
 *
 * @example
 * const lock = new RWLock()
 * const prices = new Map()
 *
 * const priceOf = (item) => lock.runShared(() => prices.get(item))
 * const change = (item, price) => lock.runExclusive(() => prices.set(item, price))
 *
 * await change('seat', 20)
 * assert.equal(await priceOf('seat'), 20)
 *
 * @example
 * // Looks first, and becomes the writer only where that is needed.
 * const reader = await lock.acquireRead()
 * try {
 *   if (!prices.has('seat')) {
 *     using writer = await reader.upgrade()
 *     prices.set('seat', 20)
 *   }
 * } finally {
 *   reader.release()
 * }
 */
export class RWLock {
  /**
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError} when an option is of the wrong type.
   * @throws {RangeError} when `buffer` is too small or `byteOffset` out of range.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there.
   */
  constructor(options?: Error | RWLockOptions)

  /**
   * Locks it for reading, in its turn.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  acquireRead(options?: number | WaitOptions): Promise<ReadReleaser>
  /** The same for writing. */
  acquireWrite(options?: number | WaitOptions): Promise<WriteReleaser>

  /** Locks it for reading now, or gives undefined: it is being written, or somebody waits. */
  tryAcquireRead(): ReadReleaser | undefined
  /** Locks it for writing now, or gives undefined: somebody has it. */
  tryAcquireWrite(): WriteReleaser | undefined

  /**
   * Runs `callback` while nobody writes, and lets go when it is through, also when it throws. Never calls it
   * before it returns. Rejects with whatever `callback` throws or rejects with, and with what acquireRead
   * would throw.
   */
  runShared<T>(callback: () => Promise<T> | T, options?: number | WaitOptions): Promise<T>
  /** The same, while nobody else reads or writes. */
  runExclusive<T>(callback: () => Promise<T> | T, options?: number | WaitOptions): Promise<T>

  /**
   * Locks it for reading, and blocks this thread until it can. Blocked threads and promises stand in one line.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when it could not be
   * had without something that this thread holds or waits for.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when
   * an option is of the wrong type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  acquireReadSync(options?: SyncWaitOptions): ReadReleaser
  /** The same for writing. */
  acquireWriteSync(options?: SyncWaitOptions): WriteReleaser
  /** Runs `callback` while nobody writes, and returns what it returns. Blocks this thread until it can. */
  runSharedSync<T>(callback: () => T, options?: SyncWaitOptions): T
  /** The same, while nobody else reads or writes. */
  runExclusiveSync<T>(callback: () => T, options?: SyncWaitOptions): T

  /** How many read it: in the next moment that may have changed, as with the two below. */
  readonly readers: number
  /** Whether anybody reads or writes. */
  isLocked(): boolean
  isWriteLocked(): boolean

  /** Rejects all of this thread who wait, to upgrade, too. Who has it is left alone. */
  cancel(reason?: unknown): void

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number

  /** What there is to see of it in this moment. */
  snapshot(): RWLockSnapshot
}

/**
 * A read-write lock for each key, which exists only while somebody holds or waits for it.
 *
 * @example
 * const documents = new KeyedRWLock()
 * const read = (id) => documents.runShared(id, () => `the text of ${id}`)
 * const write = (id, store) => documents.runExclusive(id, store)
 *
 * await Promise.all([read('a'), read('a'), write('b', () => {})])
 */
export class KeyedRWLock {
  /**
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError | RangeError} when an option is not what it should be; and what {@link HostOptions} says.
   */
  constructor(options?: Error | KeyedOptions)

  /**
   * Locks a key, or all of several, for reading, in its turn. Several keys are taken in an order of their own,
   * each once; a timeout is for all of them together, and whoever gives up holds none.
   *
   * @throws {TypeError | RangeError} at once for one key, when it or an option is not what it should
   * be; with several keys the promise rejects.
   */
  acquireRead(key: Key, options?: number | WaitOptions): Promise<ReadReleaser>
  acquireRead(keys: readonly Key[], options?: number | WaitOptions): Promise<Releaser>
  /** The same for writing. */
  acquireWrite(key: Key, options?: number | WaitOptions): Promise<WriteReleaser>
  acquireWrite(keys: readonly Key[], options?: number | WaitOptions): Promise<Releaser>

  /** Locks all for reading now, or gives undefined and holds none. */
  tryAcquireRead(key: Key): ReadReleaser | undefined
  tryAcquireRead(keys: readonly Key[]): Releaser | undefined
  /** The same for writing. */
  tryAcquireWrite(key: Key): WriteReleaser | undefined
  tryAcquireWrite(keys: readonly Key[]): Releaser | undefined

  /** Runs `callback` while nobody writes. Never calls it before it returns. */
  runShared<T>(
    key: Key | readonly Key[],
    callback: () => Promise<T> | T,
    options?: number | WaitOptions,
  ): Promise<T>
  /** Runs `callback` while nobody else reads or writes. Never calls it before it returns. */
  runExclusive<T>(
    key: Key | readonly Key[],
    callback: () => Promise<T> | T,
    options?: number | WaitOptions,
  ): Promise<T>

  /** As {@link RWLock.acquireReadSync}; with several keys `timeout` is for all of them together. */
  acquireReadSync(key: Key, options?: SyncWaitOptions): ReadReleaser
  acquireReadSync(keys: readonly Key[], options?: SyncWaitOptions): Releaser
  acquireWriteSync(key: Key, options?: SyncWaitOptions): WriteReleaser
  acquireWriteSync(keys: readonly Key[], options?: SyncWaitOptions): Releaser
  runSharedSync<T>(key: Key | readonly Key[], callback: () => T, options?: SyncWaitOptions): T
  runExclusiveSync<T>(key: Key | readonly Key[], callback: () => T, options?: SyncWaitOptions): T

  /** How many read it. */
  readers(key: Key): number
  /** Whether anybody reads or writes it. */
  isLocked(key: Key): boolean
  isWriteLocked(key: Key): boolean
  /** Rejects all of this thread who wait for this key. */
  cancel(key: Key, reason?: unknown): void
  /** Rejects all of this thread who wait for any key. */
  cancelAll(reason?: unknown): void

  /** How many keys are held or waited for: see {@link KeyedMutex.size}. */
  readonly size: number
  keys(): IterableIterator<Key>
  /** Each key that is held or waited for. */
  snapshot(): ({ key: Key } & RWLockSnapshot)[]
}

/**
 * A lock whose waits all end after `timeout` ms, with `error`. A waiter that is late leaves the queue at once. A limit
 * that is negative or NaN has run out: a free lock is still granted. `Infinity` is no limit.
 *
 * @throws {TypeError} when `lock` has no `acquire()`, or has keys, or `timeout` is neither a number nor a numeral.
 *
 * @example
 * const mutex = new Mutex()
 * const limited = withTimeout(mutex, 100)
 * await mutex.runExclusive(async () => {
 *   await assert.rejects(limited.acquire(), E_TIMEOUT)
 * })
 */
export function withTimeout(lock: MutexInterface, timeout: number, error?: Error): MutexInterface
export function withTimeout(
  lock: SemaphoreInterface,
  timeout: number,
  error?: Error,
): SemaphoreInterface

/**
 * A lock that rejects with `error` when it cannot be had in this turn of the event loop:
 * `withTimeout(lock, 0, error)`.
 */
export function tryAcquire(lock: MutexInterface, error?: Error): MutexInterface
export function tryAcquire(lock: SemaphoreInterface, error?: Error): SemaphoreInterface

/** The options of a {@link Mutex}: the name of a RecursiveMutex is not that of a Mutex. */
export interface RecursiveMutexOptions
  extends LockOptions,
    BufferOptions,
    CancelOptions,
    DiagnosticsOptions {}

/**
 * A mutex that its holder may enter again. The holder is a chain of calls: what the callback runs, awaits and
 * starts (timers and listeners too), by AsyncLocalStorage. A listener is the chain that emits the event, unless
 * AsyncResource.bind has made it another.
 *
 * What the callback starts comes from inside its hold:
 * - it goes before all others who wait, and those of them that are started side by side (`Promise.all`) take
 *   turns, first come, first served: none of them holds what its sibling holds;
 * - when the callback ends before them, the lock is kept until the last of those is through who had asked by then.
 *   Who asks later is a chain that outlives its hold, and stands in line as everybody does (or as what comes from
 *   inside the next hold around it that has not ended).
 *
 * The callback itself is not stopped while others are inside its hold: await them before you touch what the lock
 * guards.
 *
 * When a thread that shares it ends inside, the next one is let in, and is not told.
 *
 * There is no `acquire()`. It could tell nobody that its caller holds the lock: AsyncLocalStorage.enterWith, the
 * only way, would tell it to the caller's siblings and to what comes after the release, and let two in.
 *
 * @example
 * const account = new RecursiveMutex()
 * let balance = 100
 *
 * // Each of them is whole on its own, and may be called by the other.
 * const withdraw = (amount) =>
 *   account.runExclusive(async () => {
 *     if (amount > balance) throw new Error('not enough')
 *     balance -= amount
 *   })
 * const buy = (prices) =>
 *   account.runExclusive(async () => {
 *     for (const price of prices) await withdraw(price)
 *   })
 *
 * await buy([10, 20])
 * assert.equal(balance, 70)
 *
 * @example
 * // A sibling started from inside is not the holder: the two take turns.
 * const log = new RecursiveMutex()
 * const lines = []
 * const write = (name) =>
 *   log.runExclusive(async () => {
 *     lines.push(`${name} begins`)
 *     await flush()
 *     lines.push(`${name} ends`)
 *   })
 * await log.runExclusive(() => Promise.all([write('a'), write('b')]))
 * assert.deepEqual(lines, ['a begins', 'a ends', 'b begins', 'b ends'])
 */
export class RecursiveMutex {
  /**
   * @param options or the error that `cancel()` rejects with.
   * @throws {TypeError} when an option is of the wrong type.
   * @throws {RangeError} when `buffer` is too small or `byteOffset` out of range.
   * @throws {Error} `ERR_LOCK_MISMATCH` when another kind of lock lies there. (A Mutex is not noticed.)
   */
  constructor(options?: Error | RecursiveMutexOptions)

  /**
   * Runs `callback` while nobody else is in, but for the holds that it comes from inside of; lets go when it is
   * through, also when it throws. Never calls it before it returns. `priority`, `timeout` and `signal` are for the
   * line that it stands in, of the lock or of the hold it comes from inside of. When the promise settles the lock
   * may still be kept, for those that the callback has left inside.
   *
   * Rejects with whatever `callback` throws or rejects with; with `ERR_LOCK_TIMEOUT`, the signal's reason or what
   * `cancel()` gives, and then `callback` is not called; with a TypeError or RangeError when an argument is not
   * what it should be.
   *
   * @param options or a priority.
   */
  runExclusive<T>(callback: () => Promise<T> | T, options?: number | WaitOptions): Promise<T>

  /** {@link RecursiveMutex.runExclusive} by the name it has in V8's proposal. */
  executeLocked<T>(callback: () => Promise<T> | T, options?: number | WaitOptions): Promise<T>

  /**
   * Runs `callback` at once or after blocking this thread, lets go, and returns what it returns. Inside another
   * runExclusiveSync of the same mutex, anywhere on the stack, it is in again. If `callback` returns a promise,
   * what that still does has outlived the hold.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when this thread would have
   * to wait for itself: for another chain, or a sibling, that holds it here.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when an argument is of
   * the wrong type.
   * @throws {RangeError} when `timeout` is NaN or negative.
   */
  runExclusiveSync<T>(callback: () => T, options?: SyncWaitOptions): T

  /** Whether anybody holds it: in the next moment that may have changed. */
  isLocked(): boolean

  /** Whether the chain of calls that asks comes from inside a hold that has not ended. */
  isHeld(): boolean

  /** What there is to see of it. Its totals count the outermost holds only: to come in again is no acquisition. */
  snapshot(): MutexSnapshot

  /**
   * Rejects all of this thread who wait, also those who wait inside a hold. Whoever is in is left alone, and may
   * enter again.
   */
  cancel(reason?: unknown): void

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}

/** How to wait where there is nobody to go before: all go together. */
export type GateWaitOptions = Omit<WaitOptions, 'priority'>
/** The same where the wait blocks the thread. */
export type GateSyncWaitOptions = Omit<SyncWaitOptions, 'priority'>

export interface GateOptions extends LockOptions, BufferOptions {}
export interface DiningPhilosophersOptions extends LockOptions {}

/**
 * Opens, once and for good, when it has been counted down to zero: "when all of these have happened".
 *
 * A latch with a name that has been counted is not as it was at first, and stays so for as long as the
 * process lives (see {@link LockOptions.name}): another countdown needs another name.
 *
 * @example
 * // Serve when all three are there.
 * const ready = new CountdownLatch(3)
 * for (const part of ['database', 'cache', 'mail']) {
 *   connect(part).then(() => ready.countDown())
 * }
 * await ready.wait({ timeout: 5000 })
 *
 * async function connect(part) {}
 *
 * @example
 * // The same over threads: each of them constructs it with the same name and the same count.
 * const started = new CountdownLatch(2, { name: 'started' })
 * // In each of two workers, when it is up:
 * new CountdownLatch(2, { name: 'started' }).countDown()
 * new CountdownLatch(2, { name: 'started' }).countDown()
 * await started.wait()
 */
export class CountdownLatch {
  /**
   * @param count How often it is to be counted down: 0 (it is open) to 2^31 - 1. The same in all threads
   * that share it.
   * @throws {TypeError | RangeError} when `count` or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when it is there already and began with another count, or another
   * kind of lock is.
   */
  constructor(count: number, options?: GateOptions)

  /** How much is left: 0 once it is open. In the next moment it may be less, and never more. */
  readonly count: number

  /**
   * Counts down, and opens it at zero for all who wait and all who come.
   *
   * @param n How much at once: 1 to 2^31 - 1. @default 1
   * @throws {RangeError} `ERR_LOCK_RANGE` when fewer than `n` are left: nothing has changed.
   * @throws {TypeError | RangeError} when `n` is no positive integer.
   */
  countDown(n?: number): void

  /**
   * Resolves when it is open. Rejects with `ERR_LOCK_TIMEOUT` when `timeout` passed first and with
   * `signal.reason` on abort; neither changes anything for the others. Where threads share the latch, a
   * pending wait keeps the process alive as long as there is another thread that has loaded this package; a
   * latch of this thread alone keeps nothing alive.
   *
   * @throws {TypeError | RangeError} at once when an option is not what it should be.
   */
  wait(options?: GateWaitOptions): Promise<void>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when it is not open
   * and no other thread knows it.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  waitSync(options?: GateSyncWaitOptions): void

  /** Whether it is open. */
  tryWait(): boolean

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}

/**
 * Everybody waits here until all parties have come; then all go on, and the next round may begin at once.
 * Rounds never mix: whoever comes early for the next one waits for the others to come again.
 *
 * A party that gives up (`timeout`, `signal`), or whose thread ends while it waits, breaks the barrier, since
 * the others would wait for ever: they reject with `ERR_LOCK_BROKEN`, and so do all who come until
 * {@link Barrier.reset}. A round passes for all of its parties or for none. Of a thread that ends before it
 * has come nothing is known: give a `timeout` where that may happen.
 *
 * @example
 * // Three workers compute a step each, and nobody begins the next one before all have ended this one.
 * const step = new Barrier(3)
 * const done = [0, 0, 0]
 * await Promise.all(
 *   done.map(async (_, worker) => {
 *     for (let round = 1; round <= 4; round++) {
 *       done[worker] = round
 *       await step.wait()
 *       if (done.some((other) => other < round)) throw new Error('too early')
 *       await step.wait()
 *     }
 *   }),
 * )
 *
 * @example
 * // One of them does what is to be done once a round: the last to come, whose wait resolves to 0.
 * const barrier = new Barrier(2, { name: 'halves' })
 * const sums = []
 * let total
 * const half = async (numbers) => {
 *   sums.push(numbers.reduce((a, b) => a + b))
 *   if ((await barrier.wait({ timeout: 1000 })) === 0) total = sums[0] + sums[1]
 * }
 * await Promise.all([half([1, 2]), half([3, 4])]) // total is 10
 *
 * @example
 * // One gives up: it hears its own reason, the others that the barrier is broken.
 * const barrier = new Barrier(3)
 * const [late, other] = await Promise.allSettled([barrier.wait({ timeout: 5 }), barrier.wait()])
 * if (late.reason.code !== 'ERR_LOCK_TIMEOUT') throw late.reason
 * if (other.reason.code !== 'ERR_LOCK_BROKEN') throw other.reason
 * barrier.reset()
 */
export class Barrier {
  /**
   * @param parties How many a round needs: 1 to 2^30 - 1. The same in all threads that share it.
   * @throws {TypeError | RangeError} when `parties` or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when it is there already with another number of parties, or
   * another kind of lock is.
   */
  constructor(parties: number, options?: GateOptions)

  /** How many a round needs. */
  readonly parties: number
  /** How many have come in this round and wait: 0 to `parties` - 1, and 0 while it is broken. */
  readonly waiting: number

  /**
   * Comes, and resolves when all parties have: to how many were still missing then, a number of its own
   * for each party of a round, from `parties` - 1 for the first to come to 0 for the last. Order among
   * promises of one thread: as they came.
   *
   * Rejects with `ERR_LOCK_TIMEOUT` when `timeout` passed first and with `signal.reason` on abort, also
   * when the signal was aborted before: either breaks the barrier, unless the round was complete already.
   * A `timeout` of 0 passes for the last to come, and breaks it for any other. Rejects with
   * `ERR_LOCK_BROKEN` when another gave up, or the barrier was broken or reset. A pending wait keeps the
   * process alive as {@link CountdownLatch.wait} does.
   *
   * @throws {TypeError | RangeError} at once when an option is not what it should be: it has not come then,
   * and nothing is broken.
   */
  wait(options?: GateWaitOptions): Promise<number>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first, and `ERR_LOCK_BROKEN`: as above.
   * `ERR_LOCK_DEADLOCK` when others are missing and no other thread knows the barrier: it has not come then.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  waitSync(options?: GateSyncWaitOptions): number

  /** Breaks it: all who wait, and all who come until `reset()`, reject with `ERR_LOCK_BROKEN`. */
  break(): void
  /** Starts anew. Those who wait reject with `ERR_LOCK_BROKEN`; whoever comes from now on is of a new round. */
  reset(): void
  isBroken(): boolean

  /** The memory it lies in: see {@link Mutex.buffer}. */
  readonly buffer: SharedArrayBuffer
  /** Where in `buffer`, in bytes. */
  readonly byteOffset: number
}

/**
 * Philosophers around a table, a fork between any two, of which each needs both to eat: no two neighbours
 * eat at once, all others may, and nobody waits in a circle. For tasks of which each shares one thing with
 * the task before it and one with the task behind it. The forks are mutexes, and everybody takes the two
 * in one order; at each fork it is first come, first served, so that everybody eats who waits long enough.
 *
 * Several may want to eat at one seat: they do so one after the other. When a thread ends that eats, its
 * forks go to the neighbours, and the Releaser of who gets one says `abandoned`.
 *
 * @example
 * const table = new DiningPhilosophers(5)
 * await table.begin(0)
 * if (table.tryBegin(1) !== undefined) throw new Error('a neighbour eats')
 * await table.runExclusive(2, () => {
 *   // two of them eat
 * })
 * table.end(0)
 *
 * @example
 * // Stages in a ring, each with a queue to the next one: a stage uses the queues on its two sides.
 * const queues = [['a'], [], []]
 * const stages = new DiningPhilosophers(queues.length, { name: 'stages' })
 * const move = (stage) =>
 *   stages.runExclusive(stage, () => {
 *     const next = queues[(stage + 1) % queues.length]
 *     next.push(...queues[stage].splice(0))
 *   })
 * await Promise.all([move(0), move(1), move(2)])
 */
export class DiningPhilosophers {
  /**
   * @param seats How many sit at the table: 1 to 2^31 - 1. The same in all threads that share it. A fork
   * takes memory only while somebody holds or waits for it.
   * @param options `fairness` is that of the forks. There is no `buffer`: threads share a table by its name,
   * which keeps its number of seats as long as a thread that has used it.
   * @throws {TypeError | RangeError} when `seats` or an option is not what it should be.
   * @throws {Error} `ERR_LOCK_MISMATCH` when a table of that name has another number of seats.
   */
  constructor(seats: number, options?: DiningPhilosophersOptions)

  /** How many sit at the table. */
  readonly seats: number

  /**
   * Begins to eat at `seat`, 0 to `seats` - 1, when both neighbours (and who came before at this seat) let
   * it. Ended by {@link DiningPhilosophers.end} or by the Releaser.
   *
   * Rejects with `ERR_LOCK_TIMEOUT` when `timeout` passed first and with `signal.reason` on abort: it holds
   * no fork then.
   *
   * @param options or a priority.
   * @throws {TypeError | RangeError} at once when `seat` or an option is not what it should be.
   */
  begin(seat: number, options?: number | WaitOptions): Promise<Releaser>

  /**
   * The same, and blocks this thread.
   *
   * @throws {Error} `ERR_LOCK_TIMEOUT` when `timeout` passed first; `ERR_LOCK_DEADLOCK` when this thread holds
   * a fork of it itself, or a promise of this thread waits for one.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given.
   */
  beginSync(seat: number, options?: SyncWaitOptions): Releaser

  /** Begins now, or gives undefined and holds no fork. */
  tryBegin(seat: number): Releaser | undefined

  /**
   * Ends the meal at `seat`.
   *
   * @throws {Error} `ERR_LOCK_NOT_HELD` when nobody of this thread eats there.
   * @throws {TypeError | RangeError} when there is no such seat.
   */
  end(seat: number): void

  /**
   * Runs `callback` while it eats at `seat`, and ends when it is through, also when it throws. Never
   * calls it before it returns. Rejects with whatever `callback` throws or rejects with, and with what
   * begin would throw.
   */
  runExclusive<T>(
    seat: number,
    callback: () => Promise<T> | T,
    options?: number | WaitOptions,
  ): Promise<T>

  /** Runs `callback` at once or after blocking this thread, ends, and returns what it returns. */
  runExclusiveSync<T>(seat: number, callback: () => T, options?: SyncWaitOptions): T
}

export type LockMode = 'exclusive' | 'shared'

/** How to ask a {@link LockManager} for a lock: as the Web Locks standard has it, and a little more. */
export interface LockRequestOptions {
  /** `'shared'`: together with others who want it shared. @default 'exclusive' */
  mode?: LockMode
  /** Now or not at all: the callback is given `null`, and `acquire` resolves to undefined. @default false */
  ifAvailable?: boolean
  /**
   * Now, from whoever holds it, and before all who wait. Their promises reject with an `AbortError`, and what
   * they do goes on all the same. For exclusive locks. @default false
   */
  steal?: boolean
  /**
   * Takes the request out of the queue: it rejects with `signal.reason`. No effect once the callback has been
   * called, or `acquire` has resolved. Not with `ifAvailable` or `steal`.
   */
  signal?: AbortSignal
  /** Not in the standard. Higher goes first; first come, first served within a priority. @default 0 */
  priority?: number
  /**
   * Not in the standard. The longest wait in milliseconds, 0 or more: then the request rejects with
   * `ERR_LOCK_TIMEOUT`.
   */
  timeout?: number
  /** Not in the standard. How far a lock reaches is the manager's to say, and not a request's: else a RangeError. @default 'process' */
  scope?: 'process'
}

/**
 * What a lock is that somebody holds. It is a description: nothing is locked or freed by it.
 *
 * @example
 * await locks.request('orders', { mode: 'shared' }, (lock) => {
 *   assert.deepEqual([lock.name, lock.mode], ['orders', 'shared'])
 * })
 */
export class Lock {
  private constructor()
  readonly name: string
  readonly mode: LockMode
}

export type LockGrantedCallback<T> = (lock: Lock | null) => T

export interface LockInfo {
  name: string
  /** Of scope `'host'`, what somebody wants who waits is not known. */
  mode?: LockMode
  /**
   * The thread that holds it or waits for it, `node-<process id>-<thread id>`; of scope `'host'` the process,
   * `node-<process id>`.
   */
  clientId: string
}

/** @see KeyedHostOptions */
export interface LockManagerOptions extends KeyedHostOptions, EngineChoice {
  /** Of scope `'host'`, or with an engine: what keeps its names apart from those of others. All others are one, and have none. */
  name?: string
}

export interface LockManagerSnapshot {
  /** In the order of the grants, for each name. */
  held: LockInfo[]
  /** In the order of the queue, for each name. */
  pending: LockInfo[]
}

/** Lets go of what {@link LockManager.acquire} has given. */
export interface LockReleaser extends Releaser {
  /** Aborted with an `AbortError` when the lock has been stolen, over an {@link Engine} with `ERR_LOCK_LOST` when it has been lost. */
  readonly signal: AbortSignal
}

/**
 * The lock manager of the [Web Locks standard](https://w3c.github.io/web-locks/): locks by name, shared by all
 * threads of the process. What runs with `navigator.locks` runs with this. Strictly first come, first served
 * among threads, too, within a priority.
 *
 * All lock managers of a process are one. When a thread ends, what it held goes to the next.
 *
 * A request that waits keeps its event loop alive while another thread could let it in by letting go or giving
 * up: not where this very thread holds a lock of that name, unless both that and the request are shared.
 *
 * @example
 * await locks.request('orders', async (lock) => {
 *   // alone, among all threads, until this settles
 * })
 *
 * @example
 * const answer = await locks.request('cache', { mode: 'shared', timeout: 1000 }, () => read())
 */
export class LockManager {
  /**
   * Of scope `'host'` its locks reach as far as the processes of this machine: see {@link HostOptions}. A Releaser has a
   * `fencingToken` there, too; it is undefined where none was asked for before the lock was stolen. A process that
   * has been robbed hears of it by its event loop: until then, and while it is stopped, what it does goes on.
   *
   * With an `engine` they reach as far as that: nothing can be stolen, a `name` keeps its names apart from those of other
   * lock managers over the same engine, and `query()` tells of this thread.
   *
   * @example
   * const manager = new LockManager({ scope: 'host', name: 'my server' })
   * await manager.request('leader', { ifAvailable: true }, async (lock) => {
   *   if (lock !== null) await lead() // this process only
   * })
   *
   * @throws {TypeError | RangeError} for bad options, and what {@link HostOptions} says.
   */
  constructor(options?: LockManagerOptions)

  /**
   * Calls `callback` with the lock once it is granted, never synchronously, in the caller's async context, and
   * holds the lock until what it returns has settled: that is what the promise settles to.
   *
   * Everything that goes wrong rejects: a `TypeError` or `RangeError` for bad arguments; a `DOMException` named
   * `NotSupportedError` for a name that begins with `'-'` and for options that contradict each other, named
   * `AbortError` when the lock has been stolen; `signal.reason`; `ERR_LOCK_TIMEOUT`; and what the callback
   * throws. Over an {@link Engine} also `ERR_LOCK_ENGINE`, `NotSupportedError` for `steal`, and `ERR_LOCK_LOST` when the
   * lock is lost while the callback runs, which goes on; of scope `'host'` `ERR_LOCK_CAPACITY`.
   *
   * @example
   * await locks.request('leader', { ifAvailable: true }, (lock) => {
   *   if (lock === null) return // somebody else leads
   *   return lead()
   * })
   */
  request<T>(name: string, callback: LockGrantedCallback<T>): Promise<Awaited<T>>
  request<T>(
    name: string,
    options: LockRequestOptions,
    callback: LockGrantedCallback<T>,
  ): Promise<Awaited<T>>

  /**
   * Not in the standard: a lock without a callback. Its Releaser says `abandoned` when a thread died that held
   * the lock exclusively, and nobody has been told before; `signal` tells of a theft. Rejects as `request` does.
   *
   * @example
   * using held = await locks.acquire('orders', { timeout: 1000 })
   * await fetch(url, { signal: held.signal })
   *
   * @throws {TypeError} for bad arguments; a RangeError, and a DOMException named `NotSupportedError`, as
   * `request` rejects with.
   */
  acquire(
    name: string,
    options: LockRequestOptions & { ifAvailable: true },
  ): Promise<LockReleaser | undefined>
  acquire(
    name: string,
    options?: LockRequestOptions & { ifAvailable?: false },
  ): Promise<LockReleaser>
  acquire(name: string, options: LockRequestOptions): Promise<LockReleaser | undefined>

  /** What is held and waited for in this moment, by all threads; of scope `'host'` by all processes, over an engine by this thread. */
  query(): Promise<LockManagerSnapshot>
}

/**
 * The lock manager of this process, ready for use.
 *
 * @example
 * await locks.request('orders', async () => sell())
 */
export const locks: LockManager

/**
 * Makes {@link locks} `navigator.locks`, for code that looks for it there; in place of Node's own, where there is
 * one. For each thread that asks for it. Returns `locks`.
 *
 * @example
 * installNavigatorLocks()
 * await navigator.locks.request('orders', async () => sell())
 */
export function installNavigatorLocks(): LockManager

// biome-ignore lint/complexity/noUselessEmptyExport: without it, all of this file would be exported.
export {}
