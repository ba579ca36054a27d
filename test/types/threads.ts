// Compiled, never run: locks that threads share.
import * as boxoffice from 'boxoffice'
import {
  AutoResetEvent,
  ConditionVariable,
  type EventOptions,
  KeyedMutex,
  KeyedSemaphore,
  type LockOptions,
  ManualResetEvent,
  Mutex,
  type Releaser,
  Semaphore,
  type SyncWaitOptions,
} from 'boxoffice'

const options: LockOptions = { name: 'orders', fairness: 'fifo', allowBlockingMainThread: true }
const how: SyncWaitOptions = { timeout: 10, priority: 1 }

function blocking() {
  const mutex = new Mutex(options)
  mutex.lockSync(how)
  const release: Releaser = mutex.acquireSync()
  const five: number = mutex.runExclusiveSync(() => 5, how)
  const semaphore = new Semaphore(2, { buffer: new SharedArrayBuffer(8) })
  const [before, back]: [number, Releaser] = semaphore.acquireSync(2, how)
  semaphore.acquireSync({ weight: 2, ...how })
  const six: number = semaphore.runExclusiveSync((value) => value, { weight: 1 })
  const keys = new KeyedMutex(options)
  keys.lockSync('a', how)
  keys.acquireSync(['a', 1, 2n])()
  const text: string = keys.runExclusiveSync('a', () => 'text')
  const permits = new KeyedSemaphore(3, options)
  const [value]: [number, Releaser] = permits.acquireSync('a', 2)
  const values: number[] = permits.runExclusiveSync(['a', 'b'], (all) => all)
  // @ts-expect-error a blocked thread cannot hear of a signal
  mutex.lockSync({ signal: new AbortController().signal })
  // @ts-expect-error one of two
  new Mutex({ fairness: 'unfair' })
  // @ts-expect-error a keyed map lies in no buffer
  new KeyedMutex({ buffer: new SharedArrayBuffer(8) })
  return { release, five, before, back, six, text, value, values }
}

async function events() {
  const settings: EventOptions = { isSet: true, name: 'work' }
  const one = new AutoResetEvent(settings)
  new ManualResetEvent({ isSet: undefined })
  one.signal()
  await one.wait({ timeout: 1, signal: new AbortController().signal })
  one.waitSync(how)
  const through: boolean = one.tryWait() || one.isSet()
  const all = new ManualResetEvent({ buffer: one.buffer, byteOffset: one.byteOffset })
  all.set()
  all.reset()
  await all.wait(1)
  // @ts-expect-error it is not for users
  boxoffice.WaitableEvent
  return through
}

async function conditions() {
  const mutex = new Mutex()
  const condition = new ConditionVariable()
  await condition.wait(mutex, { timeout: 5 })
  condition.waitSync(mutex, { timeout: 5 })
  condition.notifyOne()
  condition.notifyAll()
  new ConditionVariable({ scope: 'host', name: 'jobs', directory: '/run/locks' })
  // @ts-expect-error it waits with a mutex
  condition.wait(new Semaphore(1))
  // @ts-expect-error notified first come, first served
  condition.wait(mutex, { priority: 1 })
}

export { blocking, conditions, events }
