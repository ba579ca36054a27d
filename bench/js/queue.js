// Works in which tasks queue for one lock.
const { performance } = require('node:perf_hooks')

/** Holds a new lock until its release. */
function held(form) {
  const lock = form.create()
  let open
  const gate = new Promise((resolve) => {
    open = resolve
  })
  if (form.run) form.run(lock, () => gate)
  else form.enter(lock).then((grant) => gate.then(() => form.leave(lock, grant)))
  return { lock, open }
}

/** `length` tasks take turns with one lock; the result is nanoseconds per turn, over about `ms`. */
async function turnsOfQueue(form, length, ms) {
  const { lock, open } = held(form)
  const { promise, tick } = clockOf(ms)
  const task = form.run ? runningTask(form, lock, tick) : enteringTask(form, lock, tick)
  await null
  globalThis.gc()
  for (let i = 0; i < length; ++i) task()
  tick.start()
  open()
  return promise
}

function enteringTask({ enter, leave }, lock, tick) {
  return async () => {
    for (let goOn = true; goOn; ) {
      const grant = await enter(lock)
      await null
      goOn = tick()
      leave(lock, grant)
    }
  }
}

function runningTask({ run }, lock, tick) {
  return async () => {
    let goOn = true
    const body = async () => {
      await null
      goOn = tick()
    }
    while (goOn) await run(lock, body)
  }
}

/** Counts turns. After about `ms` it tells the tasks to end, and resolves to the cost of a turn. */
function clockOf(ms) {
  const turnsBetweenLooks = 64
  let turns = 0
  let start = 0
  let over = false
  let settle
  const promise = new Promise((resolve) => {
    settle = resolve
  })
  const tick = () => {
    if (++turns % turnsBetweenLooks !== 0 || over) return !over
    const elapsed = performance.now() - start
    if (elapsed < ms) return true
    over = true
    settle((elapsed * 1e6) / turns)
    return false
  }
  tick.start = () => {
    start = performance.now()
  }
  return { promise, tick }
}

/**
 * Queues `length` tasks behind a holder, which then releases; the result is the milliseconds until
 * all have held the lock.
 */
async function drain(form, length) {
  globalThis.gc()
  const { lock, open } = held(form)
  await null
  const start = performance.now()
  await new Promise((resolve) => {
    let left = length
    const leaving = () => {
      if (--left === 0) resolve()
    }
    const task = oneTurn(form, lock, leaving)
    for (let i = 0; i < length; ++i) task()
    open()
  })
  return performance.now() - start
}

/** A task that acquires the lock once. */
function oneTurn({ enter, leave, run }, lock, leaving) {
  if (run) return () => run(lock, leaving)
  return async () => {
    const grant = await enter(lock)
    leaving()
    leave(lock, grant)
  }
}

module.exports = { drain, held, oneTurn, turnsOfQueue }
