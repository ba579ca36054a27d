'use strict'
// When the event loop of a thread has run empty, reports on stderr which callers still wait for a lock that no code is
// left to release. Without the report, a process that waits for itself ends with code 0 and no output.
//
// This module tracks each lock by a weak reference, from its first waiter on. All instances of the package in a thread
// share the listeners of `process`. The listeners belong to Node.js's own realm and refer to this module weakly: they
// must not keep alive a vm context in which the package was evaluated.
const { vm } = require('./builtins.js')
const { observed } = require('./platform.js')

/**
 * The source of a function that adds the listeners to `process`, and returns functions that add what these call. It is
 * text because Node.js's own realm evaluates it.
 */
const listeners = `(process) => {
  const reports = new Set()
  const listeners = new Set()
  let isEmpty = false
  process.on('beforeExit', () => {
    isEmpty = true
    for (const listener of listeners) listener.deref()?.()
  })
  // Another listener of 'beforeExit' may give the event loop more to do. Then either the loop runs empty again, or an
  // error or process.exit() ends the thread.
  process.on('uncaughtExceptionMonitor', () => {
    isEmpty = false
  })
  const sitesOf = (_, sites) => sites
  // process.exit() has a frame on the stack, by whatever name the program called it. The program may have changed how
  // Error formats frames. If Error is frozen or has a setter that throws, the program's format stays.
  const set = (name, value) => {
    try {
      return Reflect.set(Error, name, value)
    } catch {
      return false
    }
  }
  const isExitCalled = () => {
    const { prepareStackTrace, stackTraceLimit } = Error
    const isSet = set('stackTraceLimit', 10)
    const isPrepared = set('prepareStackTrace', sitesOf)
    const { stack } = new Error('')
    if (isPrepared) Error.prepareStackTrace = prepareStackTrace
    if (isSet) Error.stackTraceLimit = stackTraceLimit
    return /\\bexit (\\[as \\S+\\] )?\\((node|ext):/.test(stack)
  }
  process.on('exit', () => {
    if (!isEmpty || isExitCalled()) return
    for (const report of reports) report.deref()?.()
  })
  return {
    report: (report) => reports.add(new WeakRef(report)),
    whenEmpty: (listener) => listeners.add(new WeakRef(listener)),
  }
}`

/** The process object of Node.js. A program may replace the global one. */
const realProcess = process
const shared = Symbol.for('boxoffice.pending.2')
let isListening = false

/** Returns the functions that add to the listeners of this thread, or undefined if it has no listeners. */
function adders() {
  if (realProcess[shared] === undefined) {
    // A wait must not fail because `process` is frozen and takes no listener.
    if (!Object.isExtensible(realProcess)) return undefined
    const value = vm.runInThisContext(listeners)(realProcess)
    Object.defineProperty(realProcess, shared, { __proto__: null, value })
  }
  return realProcess[shared]
}

function listen() {
  if (isListening) return
  isListening = true
  adders()?.report(report)
}

/** Calls `listener` whenever the event loop of this thread has run empty. The caller must keep `listener` alive. */
const whenEmpty = (listener) => adders()?.whenEmpty(listener)

const mostLines = 10

let known = []
/** When `known` is this long, trackWaits() drops the references to collected locks. */
let most = 64
/** Generators for the waits of locks that are not in `known`: each yields the lock of each wait. */
const sources = []

/** The locks in `known`. A lock may get a first waiter many times. */
const tracked = new WeakSet()

/** Tracks `lock`, which is about to get its first waiter or its first caller of onIdle(). It may be a keyed map. */
function trackWaits(lock) {
  listen()
  if (tracked.has(lock)) return
  tracked.add(lock)
  if (known.length >= most) {
    known = known.filter((reference) => reference.deref() !== undefined)
    most = 2 * known.length + 64
  }
  known.push(new WeakRef(lock))
}

function addSource(source) {
  sources.push(source)
  listen()
}

function* allKnown() {
  for (const reference of known) {
    const lock = reference.deref()
    if (lock !== undefined) yield lock
  }
}

/** Returns the locks that callers wait for, with the number of callers of each. */
function awaited() {
  const counts = new Map()
  const add = (lock, count) => {
    if (count > 0 && lock.isHeldByCallers()) counts.set(lock, (counts.get(lock) ?? 0) + count)
  }
  for (const lock of allKnown()) if (lock.waitsHere) add(lock.outer ?? lock, lock.waitsHere())
  for (const source of sources) for (const lock of source()) add(lock, 1)
  return counts
}

/** The locks whose holders or waiters keep close() or onIdle() from resolving. */
function* unreleased() {
  for (const lock of allKnown()) {
    // The lock belongs to a keyed map, which is in `known` itself.
    if (lock.idleListener === null || lock.keyMap) continue
    if (lock.awaited) yield* [...lock.awaited].filter((one) => one.hasCallers())
    else if (lock.hasCallers()) yield lock
  }
}

function report() {
  const counts = awaited()
  const busy = new Set(unreleased())
  let total = busy.size
  for (const count of counts.values()) total += count
  if (total === 0) return
  const what = total === 1 ? '1 wait is pending' : `${total} waits are pending`
  const lines = [`boxoffice: the event loop has run empty, and ${what} that nothing can end:`]
  const waits = [...counts].map(([lock, count]) => ({ lock, what: `${count} for` }))
  for (const lock of busy) waits.push({ lock, what: 'close() or onIdle() of' })
  for (const { lock, what } of waits.slice(0, mostLines)) {
    const holders =
      lock.observer === null ? '' : `, which is ${observed.describeHolders(lock.observer)}`
    const title = lock.observer === null ? lock.title() : observed.titleOf(lock.observer)
    lines.push(`  ${what} ${title}${holders}`)
  }
  if (waits.length > mostLines) lines.push(`  and for ${waits.length - mostLines} more locks`)
  if (waits.some(({ lock }) => lock.observer === null && lock.hasDiagnostics !== false))
    lines.push('set BOXOFFICE_DIAGNOSTICS=1 to see who holds them')
  // The caller that got that error may not have handled it: it may still wait, or still hold its other lock.
  const deadlock = observed.latestDeadlock?.()
  if (deadlock !== undefined) lines.push(`a deadlock was refused before: ${deadlock}`)
  realProcess.stderr.write(`${lines.join('\n')}\n`)
}

module.exports = { addSource, trackWaits, whenEmpty }
