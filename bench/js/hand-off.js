// The latency from a release by one thread until another thread runs that has waited long enough to
// be asleep.
const { done, guardOf, held, until, waiting } = require('./board.js')
const { quantile } = require('./numbers.js')

const warmUpRounds = 200
const rounds = 2_000
const asleepUs = 200

/** The first thread holds the lock and releases, the second waits for it, in rounds. */
async function handOff(form, lock, { board, index, stamp }) {
  const guard = guardOf(board, index)
  const play = index === 0 ? letGo : waitFor
  const latencies = []
  for (let round = 1; round <= rounds; ++round) {
    const latency = await play(form, lock, { board, guard, round, stamp })
    if (round > warmUpRounds) latencies.push(latency)
  }
  return { latencies, overlaps: guard.overlaps }
}

function sumOfHandOff([, { latencies }]) {
  return { value: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
}

async function letGo(form, lock, { board, guard, round, stamp }) {
  await within(form, lock, async () => {
    guard.enter()
    Atomics.store(board, held, round)
    await until(board, waiting, round)
    for (const start = microseconds(); microseconds() - start < asleepUs; );
    guard.leave()
    stamp[0] = microseconds()
  })
  await until(board, done, round)
}

async function waitFor(form, lock, { board, guard, round, stamp }) {
  await until(board, held, round)
  Atomics.store(board, waiting, round)
  let latency = 0
  await within(form, lock, () => {
    latency = microseconds() - stamp[0]
    guard.enter()
    guard.leave()
  })
  Atomics.store(board, done, round)
  return latency
}

async function within({ run, enter, leave, isBlocking }, lock, body) {
  if (run) return run(lock, body)
  const grant = isBlocking ? enter(lock) : await enter(lock)
  await body()
  leave(lock, grant)
}

/** By the clock that all threads share. */
function microseconds() {
  return Number(process.hrtime.bigint()) / 1e3
}

module.exports = { handOff, sumOfHandOff }
