// Compiled, never run: boxoffice/local.
import type { Mutex as MutexOfBoxoffice } from 'boxoffice'
import * as local from 'boxoffice/local'

const options: local.MutexOptions = { timeout: 100 }
const mutex: MutexOfBoxoffice = new local.Mutex(options)
const keyed: Promise<number> = new local.KeyedMutex().runExclusive('ada', () => 1)
new local.AutoResetEvent({ isSet: true }).signal()
const flight: Promise<string> = new local.SingleFlight().do('ada', async () => 'ada')
local.withTimeout(mutex, 10)
const isOurs: boolean = local.isLockError(new Error())
// @ts-expect-error a class of wider scopes
new local.LeaderElection({ scope: 'host', name: 'ada' })

export { flight, isOurs, keyed }
