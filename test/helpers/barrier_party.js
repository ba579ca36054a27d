'use strict'
// The parties of test/process/barrier_threads.test.js, in workers and in the main thread, and their
// checks after each passage. Shared memory, by party: its current round, and the outcome.
const { parentPort, workerData } = require('node:worker_threads')
const { Barrier } = require('../..')

const turn = () => new Promise(setImmediate)

// The outcome of a round for a party. Two tables alternate: no party still reads a table when it is
// reused.
const passed = 1
const broken = 2
const gaveUp = 3

// Of each 25 rounds, one in which no party gives up and one in which a party does.
const passes = 1
const breaks = 2

class Party {
  constructor({ parties, at, repairAt, rounds, seen, sums, wrong }, index) {
    this.barrier = new Barrier(parties, at)
    this.repair = new Barrier(parties, repairAt)
    Object.assign(this, { parties, rounds, seen, sums, wrong, index })
  }

  unless(isRight) {
    if (!isRight) Atomics.add(this.wrong, 0, 1)
  }

  arrive(round) {
    Atomics.store(this.seen, this.index, round)
  }

  /**
   * Every party has reached this round, and none is beyond the next one, where it waits for this
   * one.
   */
  check(round, missing) {
    for (let other = 0; other < this.parties; other++) {
      const at = Atomics.load(this.seen, other)
      this.unless(at === round || at === round + 1)
    }
    Atomics.add(this.sums, round, 1 << missing) // each number once
  }

  /** Round after round, with promises. */
  async play() {
    for (let round = 1; round <= this.rounds; round++) {
      this.arrive(round)
      this.check(round, await this.barrier.wait())
      if ((round + this.index) % 7 === 0) await turn()
    }
  }

  /** The same, blocked. */
  playSync() {
    for (let round = 1; round <= this.rounds; round++) {
      this.arrive(round)
      this.check(round, this.barrier.waitSync())
    }
  }

  note(round, how) {
    Atomics.store(this.seen, (round % 2) * this.parties + this.index, how)
  }

  /** A round passes for all or breaks for all. At barrier `repair` no party gives up. */
  checkBroken(round) {
    const all = Array.from({ length: this.parties }, (_, other) =>
      Atomics.load(this.seen, (round % 2) * this.parties + other),
    )
    this.unless(all.every((how) => how === passed) || all.every((how) => how > passed))
    if (all[0] === passed) Atomics.add(this.sums, 0, 1)
    else this.unless(all.includes(gaveUp))
    if (all[0] !== passed && this.index === 0) {
      Atomics.add(this.sums, 1, 1)
      this.unless(this.barrier.isBroken())
      this.barrier.reset()
    }
  }

  /** Whether a party does not wait for ever. */
  hurries(round) {
    return round % 25 !== passes && Math.random() < 0.05
  }

  howOf(error) {
    if (error.code === 'ERR_LOCK_BROKEN') return broken
    this.unless(error === 'aborted' || error.code === 'ERR_LOCK_TIMEOUT')
    return gaveUp
  }

  /**
   * Some parties give up now and then, when others are about to arrive; for some rounds the outcome
   * is certain.
   */
  async playBreaking() {
    for (let round = 1; round <= this.rounds; round++) {
      const controller = new AbortController()
      const isTimed = this.hurries(round) || (round % 25 === breaks && this.index === 1)
      const limits = isTimed ? { timeout: Math.random() * 3 } : { signal: controller.signal }
      // The last party arrives after another has given up.
      while (round % 25 === breaks && this.index === 0 && !this.barrier.isBroken()) await turn()
      const wait = this.barrier.wait(limits)
      if (this.hurries(round)) setImmediate(() => controller.abort('aborted'))
      const over = (how) => this.note(round, how)
      await wait.then(
        () => over(passed),
        (error) => over(this.howOf(error)),
      )
      await this.repair.wait()
      this.checkBroken(round)
      await this.repair.wait()
    }
  }

  playBreakingSync() {
    for (let round = 1; round <= this.rounds; round++) {
      try {
        this.barrier.waitSync(this.hurries(round) ? { timeout: Math.random() * 2 } : {})
        this.note(round, passed)
      } catch (error) {
        this.note(round, this.howOf(error))
      }
      this.repair.waitSync()
      this.checkBroken(round)
      this.repair.waitSync()
    }
  }
}

/** All parties of this thread: `indexes`. A method whose name ends in Sync serves one of them. */
function playAll(game, indexes, method) {
  return Promise.all(indexes.map((index) => new Party(game, index)[method]()))
}

if (workerData?.game !== undefined) {
  const { game, indexes, method } = workerData
  playAll(game, indexes, method).then(() => parentPort.postMessage('over'))
}

module.exports = { playAll }
