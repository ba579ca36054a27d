// Compiled, never run: latches, barriers and philosophers.
import {
  Barrier,
  CountdownLatch,
  DiningPhilosophers,
  type DiningPhilosophersOptions,
  type GateOptions,
  type GateSyncWaitOptions,
  type GateWaitOptions,
  type Releaser,
} from 'boxoffice'

const options: GateOptions = { name: 'start', allowBlockingMainThread: true, fairness: 'fifo' }
const limits: GateWaitOptions = { timeout: 5, signal: new AbortController().signal }
const blocking: GateSyncWaitOptions = { timeout: 5 }

async function latches() {
  const latch = new CountdownLatch(3, options)
  latch.countDown()
  latch.countDown(2)
  await latch.wait(limits)
  latch.waitSync(blocking)
  const isOpen: boolean = latch.tryWait()
  const count: number = latch.count
  const same = new CountdownLatch(3, { buffer: latch.buffer, byteOffset: latch.byteOffset })
  // @ts-expect-error it is counted down, not set
  latch.count = 2
  // @ts-expect-error it needs a count
  new CountdownLatch()
  // @ts-expect-error all go together
  latch.wait({ priority: 1 })
  // @ts-expect-error a blocked thread cannot hear of a signal
  latch.waitSync({ signal: new AbortController().signal })
  return { isOpen, count, same }
}

async function barriers() {
  const barrier = new Barrier(3, options)
  const missing: number = await barrier.wait(limits)
  const last: number = barrier.waitSync(blocking)
  const state: [number, number, boolean] = [barrier.parties, barrier.waiting, barrier.isBroken()]
  barrier.break()
  barrier.reset()
  const same = new Barrier(3, { buffer: barrier.buffer, byteOffset: barrier.byteOffset })
  // @ts-expect-error every arriving party waits
  barrier.tryWait()
  // @ts-expect-error all go together
  barrier.wait(1)
  return { missing, last, state, same }
}

async function philosophers() {
  const settings: DiningPhilosophersOptions = { name: 'table', timeout: 5, maxPending: 1 }
  const table = new DiningPhilosophers(5, settings)
  const release: Releaser = await table.begin(0, { priority: 1, ...limits })
  const now: Releaser | undefined = table.tryBegin(2)
  const blocked: Releaser = table.beginSync(1, blocking)
  table.end(0)
  const five: number = await table.runExclusive(0, () => 5, limits)
  const text: string = table.runExclusiveSync(0, () => 'text', { timeout: 1 })
  const seats: number = table.seats
  // @ts-expect-error threads share it by name only
  new DiningPhilosophers(5, { buffer: new SharedArrayBuffer(8) })
  // @ts-expect-error which philosopher?
  table.begin()
  return { release, now, blocked, five, text, seats }
}

export { barriers, latches, philosophers }
