// Compiled, never run: what a user may write, and what the compiler must refuse.
import { type LockSyncOptions, Mutex, type MutexOptions } from 'boxoffice'

const options: MutexOptions = {
  buffer: new SharedArrayBuffer(8),
  byteOffset: 4,
  allowBlockingMainThread: true,
}
const inTime: LockSyncOptions = { timeout: 0.5 }

const mutex = new Mutex()
new Mutex({})
new Mutex(options)
new Mutex({ buffer: mutex.buffer, byteOffset: mutex.byteOffset })

mutex.lockSync()
mutex.lockSync({})
mutex.lockSync(inTime)
mutex.unlock()
const locked: boolean = mutex.tryLock() || mutex.isLocked()
const buffer: SharedArrayBuffer = mutex.buffer
const byteOffset: number = mutex.byteOffset

// @ts-expect-error an ArrayBuffer is not shared
new Mutex({ buffer: new ArrayBuffer(4) })
// @ts-expect-error there is no such option
new Mutex({ offset: 4 })
// @ts-expect-error a timeout is a number
mutex.lockSync({ timeout: '10' })
// @ts-expect-error a timeout is an option
mutex.lockSync(10)
// @ts-expect-error a mutex stays where it is
mutex.buffer = buffer

export { byteOffset, locked }
