// Compiled, never run: options of one scope go together, and those of several do not.
import {
  AutoResetEvent,
  Barrier,
  ConditionVariable,
  type Engine,
  KeyedMutex,
  type KeyedMutexOptions,
  KeyedSemaphore,
  LeaderElection,
  LockManager,
  Mutex,
  type MutexOptions,
  RWLock,
  Semaphore,
} from 'boxoffice'

declare const engine: Engine
declare const isMany: boolean
declare const buffer: SharedArrayBuffer

// @ts-expect-error: processes find a lock by its name
new Mutex({ scope: 'host' })
// @ts-expect-error: the same for a keyed lock
new KeyedMutex({ scope: 'host' })
// @ts-expect-error: the same for a barrier
new Barrier(2, { scope: 'host' })
// @ts-expect-error: a lock of one process has no least time of a hold
new Mutex({ minHold: 1000 })
// @ts-expect-error: nor a longest one, though threads share it
new KeyedMutex({ name: 'users', maxHold: 1000 })
// @ts-expect-error: a lock of scope host has no buffer
new Mutex({ scope: 'host', name: 'orders', buffer })
// @ts-expect-error: a directory is for scope host
new Mutex({ name: 'orders', directory: '/run/locks' })
// @ts-expect-error: so is a capacity
new KeyedMutex({ name: 'users', capacity: 1024 })
// @ts-expect-error: a single lock over an engine has a name
new Mutex({ engine })
// @ts-expect-error: an engine has no directory
new KeyedMutex({ engine, directory: '/run/locks' })
// @ts-expect-error: a semaphore over an engine has no least time of a hold
new Semaphore(2, { engine, name: 'uploads', minHold: 1000 })
// @ts-expect-error: the same for a keyed one
new KeyedSemaphore(2, { engine, minHold: 1000 })
// @ts-expect-error: no engine has events
new AutoResetEvent({ engine, name: 'ready' })
// @ts-expect-error: no caller holds a condition
new ConditionVariable({ scope: 'host', name: 'changed', minHold: 1000 })
// @ts-expect-error: an election has a scope
new LeaderElection({ name: 'mailer' })
// @ts-expect-error: a lock manager of scope host has a name
new LockManager({ scope: 'host' })

new Mutex({ scope: 'process', name: 'orders' })
new Mutex({ shared: true })
new RWLock({ buffer, byteOffset: 4 })
new Semaphore(2, { scope: 'host', name: 'uploads', minHold: 1000, maxHold: 5000 })
new KeyedMutex({ engine, minHold: 1000 })
new LeaderElection({ name: 'mailer', engine })

// What is known only when the program runs.
new Mutex({ scope: isMany ? 'host' : 'process', name: 'orders' })
new Mutex({ name: 'orders', ...(isMany && { scope: 'host' }) })
new Mutex({ name: 'orders', engine: isMany ? engine : undefined })
new KeyedMutex({ name: 'users', ...(isMany ? { engine } : { scope: 'host' }) })

declare const settings: { scope?: 'process' | 'host' }
new Mutex({ ...settings, name: 'orders' })
new Mutex({ scope: 'host', name: 'orders', shared: false })

/** Options go through a function. */
export const make = (options: MutexOptions) => new Mutex({ timeout: 1000, ...options })
export const makeKeyed = (options?: KeyedMutexOptions) => new KeyedMutex(options)
make({ name: 'orders', engine })
