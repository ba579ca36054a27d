// Compiled, never run: what is to be seen of locks.
import {
  AutoResetEvent,
  type DiagnosticsOptions,
  KeyedMutex,
  type LockEvent,
  type LockHolder,
  type LockReport,
  type LockWaiter,
  Mutex,
  type ProcessSnapshot,
  RecursiveMutex,
  RWLock,
  Semaphore,
  snapshot,
} from 'boxoffice'

const watched: DiagnosticsOptions = { diagnostics: 'counters', warnAfter: 1000 }

async function see() {
  const mutex = new Mutex({ ...watched, name: 'orders' })
  const holders: LockHolder[] | undefined = mutex.snapshot().holders
  const since: number | undefined = holders?.[0]?.since
  for (const holder of holders ?? []) {
    // @ts-expect-error the property may be there without a value
    if ('weight' in holder) holder.weight.toFixed()
  }
  const count: number | undefined = new Semaphore(2, watched).snapshot().totals?.acquisitions
  const p99: number | undefined = new RWLock({ diagnostics: true }).snapshot().waits?.p99
  const oldest: number | undefined = new KeyedMutex(watched).snapshot()[0]?.oldestWait
  const ordered = new Mutex({ diagnostics: { order: true } })
  ordered.release()
  const locked: boolean = new RecursiveMutex({ diagnostics: false }).snapshot().locked
  const whole: ProcessSnapshot = await snapshot()
  const reports: LockReport[] = whole.locks.filter(({ kind }) => kind === 'KeyedMutex')
  const waiters: LockWaiter[] = reports.flatMap(({ waiters }) => waiters)
  const made: string | undefined = reports[0]?.madeAt
  const event: LockEvent = { kind: 'Mutex', scope: 'process', thread: 0 }
  const waits = whole.deadlocks.map(({ cycle }) => cycle[0]?.waitsFor.key)

  // @ts-expect-error there is no such level
  new Mutex({ diagnostics: 'full' })
  // @ts-expect-error an event is not watched
  new AutoResetEvent({ diagnostics: true })
  return [since, count, p99, oldest, locked, reports, waiters, made, event, waits]
}

see()
