// Compiled, never run: what a user may write, and what the compiler must refuse.
import { platform, Semaphore, type SemaphoreOptions } from 'boxoffice'

const name: string = platform
const options: SemaphoreOptions = { name, allowBlockingMainThread: true }

const semaphore = new Semaphore()
new Semaphore(1)
new Semaphore(1, options)

const inTime: boolean = semaphore.wait(10) && semaphore.wait() && semaphore.tryWait()
semaphore.signal()
semaphore.signal(3)

// @ts-expect-error a count is a number
new Semaphore('1')
// @ts-expect-error there is no such option
new Semaphore(1, { nome: 'gate' })
// @ts-expect-error a timeout is a number
semaphore.wait('10')
// @ts-expect-error there is no other class of that name
new Semaphore.Named()

export { inTime }
