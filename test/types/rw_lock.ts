// Compiled, never run: the types of read-write locks.
import {
  KeyedRWLock,
  type ReadReleaser,
  type Releaser,
  RWLock,
  type WriteReleaser,
} from 'boxoffice'

const lock = new RWLock({ name: 'prices', fairness: 'fifo', cancelError: new Error('closed') })
new RWLock(new Error('closed'))
new RWLock({ buffer: new SharedArrayBuffer(4), byteOffset: 0 })
// @ts-expect-error: no such option
new RWLock({ readers: 2 })

export async function alone(signal: AbortSignal): Promise<void> {
  const reader: ReadReleaser = await lock.acquireRead({ signal, timeout: 5, priority: 1 })
  const writer: WriteReleaser = await reader.upgrade({ signal, timeout: 5 })
  // @ts-expect-error: an upgrade goes ahead of every waiter
  await reader.upgrade({ priority: 1 })
  // @ts-expect-error: it is not in the queue that maxPending limits
  await reader.upgrade({ ifAvailable: true, maxPending: 1 })
  const again: ReadReleaser = writer.downgrade()
  const now: WriteReleaser | undefined = again.tryUpgrade()
  now?.()
  // @ts-expect-error: a writer cannot upgrade
  writer.upgrade()
  using _ = await lock.acquireWrite(1)
  const text: string = await lock.runShared(() => 'text')
  const count: number = await lock.runExclusive(async () => text.length, { timeout: 5 })
  const readers: number = lock.readers
  const isLocked: boolean = lock.isLocked() || lock.isWriteLocked()
  lock.cancel(count + readers + Number(isLocked))
}

export function blocking(): number {
  const writer: WriteReleaser = lock.acquireReadSync({ timeout: 5 }).upgradeSync({ timeout: 5 })
  writer()
  lock.acquireWriteSync().downgrade().release()
  return lock.runSharedSync(() => 1) + lock.runExclusiveSync(() => 2)
}

const keyed = new KeyedRWLock({ name: 'documents' })

export async function keys(): Promise<void> {
  const one: ReadReleaser = await keyed.acquireRead('a')
  const several: Releaser = await keyed.acquireWrite(['b', 1, 2n] as const, { timeout: 5 })
  // @ts-expect-error: several keys are not upgraded
  several.upgrade()
  keyed.tryAcquireWrite('c')?.downgrade()
  const text: string = await keyed.runShared(['a', 'b'], () => 'text')
  keyed.runExclusiveSync(text, () => keyed.readers('a'), { timeout: 5 })
  for (const { key, readers, written, waiting } of keyed.snapshot()) {
    keyed.cancel(key, readers + waiting + Number(written))
  }
  one()
}
