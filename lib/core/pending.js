'use strict'
// Says on stderr, when the event loop of a thread has run empty, which callers wait for a lock that no code is left to
// release. Without that a process whose code waits for itself ends with code 0 and no output.
//
// This module tracks each lock from its first waiter on, by a weak reference. The listeners of `process` belong to the
// realm of Node.js and refer to this module weakly: they must not keep alive a vm context in which the package was
// evaluated. All instances of the package in a thread share them.
const { vm } = require('./builtins.js')
const { observed } = require('./platform.js')

/**
 * The text of a function that adds the listeners of a thread to its `process`, and returns functions that add what they
 * call. It is a text because it is evaluated in the realm of Node.js.
 */
const listeners = `(process) => {
  const reports = new Set()
  const listeners = new Set()
  let isEmpty = false
  process.on('beforeExit', () => {
    isEmpty = true
    for (const listener of listeners) listener.deref()?.()
  })
  // Another listener of 'beforeExit' may give the event loop more to do. Either the loop runs empty again, or an error
  // or process.exit() ends the thread.
  process.on('uncaughtExceptionMonitor', () => {
    isEmpty = false
  })
  const sitesOf = (_, sites) => sites
  // The frame of process.exit() is there whatever reference it was called through. The program may have set how Error
  // formats frames; where Error is frozen, or has a setter that throws, it stays so.
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

/** The functions that add to the listeners of this thread. Undefined without listeners. */
function adders() {
  if (realProcess[shared] === undefined) {
    // A frozen process takes no listener: then a wait must not fail for it.
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

/** Calls `listener`, which the caller keeps alive, whenever the event loop of this thread has run empty. */
const whenEmpty = (listener) => adders()?.whenEmpty(listener)

const mostLines = 10

let known = []
/** The number of references at which the references to collected locks are dropped. */
let most = 64
/** Generators of the locks of all other waits: each yields one lock for each wait. */
const sources = []

/** The locks in `known`: one may get its first waiter again and again. */
const tracked = new WeakSet()

/** `lock` is about to get its first waiter, or the first caller of onIdle(), which may wait for a keyed map, too. */
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

/** The locks that callers wait for, each with the number of these callers. */
function awaited() {
  const counts = new Map()
  const add = (lock, count) => {
    if (count > 0 && lock.isHeldByCallers()) counts.set(lock, (counts.get(lock) ?? 0) + count)
  }
  for (const lock of allKnown()) if (lock.waitsHere) add(lock.outer ?? lock, lock.waitsHere())
  for (const source of sources) for (const lock of source()) add(lock, 1)
  return counts
}

/** The locks that keep close() and onIdle() from their end. */
function* unreleased() {
  for (const lock of allKnown()) {
    // A lock of a keyed map tells the map, which is known itself.
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
  // Its error may not have been handled: its caller may wait, or may never have released what it held.
  const deadlock = observed.latestDeadlock?.()
  if (deadlock !== undefined) lines.push(`a deadlock was refused before: ${deadlock}`)
  realProcess.stderr.write(`${lines.join('\n')}\n`)
}

module.exports = { addSource, trackWaits, whenEmpty }
