// Threads that lock and unlock one lock over and over, all at once.
const { performance } = require('node:perf_hooks')
const { guardOf, meet, stop } = require('./board.js')

const warmUpMs = 300
const measuredMs = 1_000
const turnsBetweenLooks = 16

/**
 * Reading the clock costs as much as a turn. So one phase counts turns, and another measures waits.
 */
async function contend(form, lock, { board, index, tasks }) {
  const guard = guardOf(board, index)
  const phase = async (number, ms, now) => {
    await meet(board, number)
    const clock = clockOf(board, number, ms)
    const longest = await tasksOf(form, lock, { guard, clock, now, tasks })
    return { ...clock.read(), longest }
  }
  const noClock = () => 0
  await phase(1, warmUpMs, noClock)
  const { turns, elapsed } = await phase(2, measuredMs, noClock)
  const { longest } = await phase(3, measuredMs, () => performance.now())
  return { turns, elapsed, longest, overlaps: guard.overlaps }
}

function sumOfContention(results) {
  const turns = results.map((result) => result.turns)
  const elapsed = Math.max(...results.map((result) => result.elapsed))
  return {
    value: turns.reduce((sum, one) => sum + one) / elapsed, // per ms, which is thousands per second
    longest: Math.max(...results.map((result) => result.longest)),
    fairness: Math.min(...turns) / Math.max(...turns),
  }
}

/**
 * Counts turns. The first thread to see that `ms` are over tells the others, by the number of the
 * phase.
 */
function clockOf(board, phase, ms) {
  const start = performance.now()
  let turns = 0
  return {
    tick() {
      if (++turns % turnsBetweenLooks === 0 && performance.now() - start >= ms) {
        Atomics.store(board, stop, phase)
      }
      return Atomics.load(board, stop) !== phase
    },
    read: () => ({ turns, elapsed: performance.now() - start }),
  }
}

/** The longest wait of all tasks. */
async function tasksOf(form, lock, { tasks, ...means }) {
  if (form.isBlocking) return blocking(form, lock, means)
  const task = form.run ? running : awaiting
  const waits = Array.from({ length: tasks }, () => task(form, lock, means))
  return Math.max(...(await Promise.all(waits)))
}

function blocking({ enter, leave }, lock, { guard, clock, now }) {
  let longest = 0
  for (let goOn = true; goOn; ) {
    const asked = now()
    enter(lock)
    longest = Math.max(longest, now() - asked)
    guard.enter()
    goOn = clock.tick()
    guard.leave()
    leave(lock)
  }
  return longest
}

async function awaiting({ enter, leave }, lock, { guard, clock, now }) {
  let longest = 0
  for (let goOn = true; goOn; ) {
    const asked = now()
    const grant = await enter(lock)
    longest = Math.max(longest, now() - asked)
    guard.enter()
    await null
    goOn = clock.tick()
    guard.leave()
    leave(lock, grant)
  }
  return longest
}

async function running({ run }, lock, { guard, clock, now }) {
  let longest = 0
  let goOn = true
  let asked = 0
  const body = async () => {
    longest = Math.max(longest, now() - asked)
    guard.enter()
    await null
    goOn = clock.tick()
    guard.leave()
  }
  while (goOn) {
    asked = now()
    await run(lock, body)
  }
  return longest
}

module.exports = { contend, sumOfContention }
