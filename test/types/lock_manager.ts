// Compiled, never run: code that is typed for navigator.locks compiles with ours.
import {
  installNavigatorLocks,
  type Lock,
  LockManager,
  type LockManagerSnapshot,
  type LockMode,
  type LockReleaser,
  type LockRequestOptions,
  locks,
} from 'boxoffice'

// What TypeScript's lib.dom.d.ts says of them.
declare namespace Dom {
  type LockMode = 'exclusive' | 'shared'
  interface Lock {
    readonly mode: LockMode
    readonly name: string
  }
  interface LockInfo {
    clientId?: string
    mode?: LockMode
    name?: string
  }
  interface LockManagerSnapshot {
    held?: LockInfo[]
    pending?: LockInfo[]
  }
  interface LockOptions {
    ifAvailable?: boolean
    mode?: LockMode
    signal?: AbortSignal
    steal?: boolean
  }
  type LockGrantedCallback<T> = (lock: Lock | null) => T
  interface LockManager {
    query(): Promise<LockManagerSnapshot>
    request<T>(name: string, callback: LockGrantedCallback<T>): Promise<Awaited<T>>
    request<T>(
      name: string,
      options: LockOptions,
      callback: LockGrantedCallback<T>,
    ): Promise<Awaited<T>>
  }
}

const standard: Dom.LockManager = locks

/** As a library for browsers has it, with its options and callbacks in hand. */
function asInBrowsers(
  manager: LockManager,
  options: Dom.LockOptions,
  callback: Dom.LockGrantedCallback<Promise<number>>,
): Promise<number> {
  return manager.request('orders', options, callback)
}

async function requests() {
  const manager = new LockManager()
  const five: number = await manager.request('a', () => 5)
  const six: number = await manager.request(
    'a',
    async (lock: Lock | null) => lock?.name.length ?? 6,
  )
  const mode: LockMode | undefined = await manager.request(
    'a',
    { mode: 'shared' },
    (lock) => lock?.mode,
  )
  const options: LockRequestOptions = { steal: true, priority: 1, timeout: 5, scope: 'process' }
  await manager.request('a', options, () => {})
  const none = { mode: undefined, signal: undefined, timeout: undefined, scope: undefined }
  await manager.request(
    'a',
    { ...none, ifAvailable: undefined, steal: undefined },
    (lock) => lock?.name,
  )
  new LockManager({ name: undefined, engine: undefined })
  const { held, pending }: LockManagerSnapshot = await manager.query()
  const client: string | undefined = [...held, ...pending][0]?.clientId
  // @ts-expect-error there are two
  manager.request('a', { mode: 'exclusively' }, () => {})
  // @ts-expect-error a callback is needed
  manager.request('a')
  // @ts-expect-error it may not be available
  manager.request('a', (lock) => lock.name)
  // @ts-expect-error a lock is what one is given
  new Lock()
  return { five, six, mode, client }
}

async function acquires() {
  const release: LockReleaser = await locks.acquire('a', { mode: 'shared', timeout: 5 })
  const isLost: boolean = release.signal.aborted || release.abandoned
  release()
  {
    using _ = await locks.acquire('a')
    await using __ = await locks.acquire('b')
  }
  const maybe: LockReleaser | undefined = await locks.acquire('a', { ifAvailable: true })
  // @ts-expect-error there may be none
  ;(await locks.acquire('a', { ifAvailable: true })).release()
  return { isLost, maybe }
}

const installed: LockManager = installNavigatorLocks()

export { acquires, asInBrowsers, installed, requests, standard }
