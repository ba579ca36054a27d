/**
 * The system and processor the addon was built for, as Node names them.
 *
 * @example
 * 'linux-x64'
 */
export const platform: string

export interface SemaphoreOptions {
  /**
   * Share the semaphore with every thread of this process that constructs one of the same name. It
   * lives as long as one of them holds it. Without a name it belongs to this thread alone.
   */
  name?: string

  /**
   * Let {@link Semaphore.wait} block the main thread. While it blocks, no promise, timer or
   * connection of that thread gets on; if only that thread could signal, it blocks for ever.
   *
   * @default false
   */
  allowBlockingMainThread?: boolean
}

/**
 * The operating system's counting semaphore, which blocks the calling thread. It is meant for
 * worker threads.
 *
 * @example
 * // In each worker: sleep until the main thread has something to do.
 * const work = new Semaphore(0, { name: 'work' })
 * work.wait()
 *
 * // On the main thread: wake three of them.
 * const work = new Semaphore(0, { name: 'work' })
 * work.signal(3)
 */
export class Semaphore {
  /**
   * @param initial The count it starts with: an integer from 0 to 2^31 - 1. It has no effect when a
   * semaphore of that name exists.
   * @throws {TypeError} when an argument is of the wrong type.
   * @throws {RangeError} when `initial` is out of range.
   */
  constructor(initial?: number, options?: SemaphoreOptions)

  /**
   * Takes one from the count; blocks this thread until there is one to take. A worker that blocks
   * here cannot be terminated before it wakes up, so prefer a timeout where the signal may not come.
   *
   * @param timeoutMs The longest wait in milliseconds: an integer from 0 to 2^31 - 1, where 0 only
   * looks. Left out, the wait has no end.
   * @returns true when it has taken one, false when the timeout passed first.
   * @throws {TypeError} on the main thread, unless `allowBlockingMainThread` was given, and when
   * `timeoutMs` is no number.
   * @throws {RangeError} when `timeoutMs` is out of range.
   */
  wait(timeoutMs?: number): boolean

  /**
   * Takes one from the count if that can be done at once. Never blocks.
   *
   * @returns whether it has taken one.
   */
  tryWait(): boolean

  /**
   * Adds to the count and wakes as many waiting threads.
   *
   * @param n How many to add: an integer from 0 to 2^31 - 1.
   * @default 1
   * @throws {TypeError} when `n` is no number.
   * @throws {RangeError} when `n` is out of range or the count would pass 2^31 - 1; the count is then
   * as it was.
   */
  signal(n?: number): void
}
