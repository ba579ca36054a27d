// One of the processes that share a lock. It runs the commands of host-rows.js, one message after
// the other.
//   node host-process.js kit means
const { closeSync, openSync, unlinkSync } = require('node:fs')
const path = require('node:path')
const { hostKits } = require('./host-kits.js')
const { quantile } = require('./numbers.js')

const turnsBetweenLooks = 16

const [kit, means] = process.argv.slice(2)
const { directory, ...rest } = JSON.parse(means)

const waiting = new Map()
let lastQuestion = 0

/** Asks the parent process, as a worker of node:cluster asks its primary. */
function ask(question, { isAnswered = true } = {}) {
  const id = ++lastQuestion
  process.send({ question, id })
  return isAnswered ? new Promise((resolve) => waiting.set(id, resolve)) : undefined
}

const lock = hostKits[kit].open({ directory, ask, ...rest })
const held = new Map()

const works = {
  /** Without waiting, in batches, so that the clock costs nothing. */
  async now({ ms }) {
    const { tryEnter, leave } = await lock
    if (tryEnter === undefined) return null
    return perSecond(ms, () => {
      tryEnter(0)
      leave(0)
    })
  },

  async uncontended({ ms }) {
    const { enter, leave } = await lock
    const start = now()
    let turns = 0
    do {
      for (let i = 0; i < turnsBetweenLooks; ++i) {
        const left = leave(0, await enter(0))
        if (left !== undefined) await left
      }
      turns += turnsBetweenLooks
    } while (now() - start < ms)
    return { turns, elapsed: now() - start }
  },

  /** Holds one of `keys` alone, repeatedly, for `ms`. */
  async contend({ keys, ms }) {
    const { enter, leave } = await lock
    const start = now()
    const waits = []
    for (let asked = start; asked - start < ms; ) {
      const key = keys === 1 ? 0 : Math.floor(Math.random() * keys)
      const grant = await enter(key)
      waits.push(now() - asked)
      await null
      await leave(key, grant)
      asked = now()
    }
    const elapsed = now() - start
    return { turns: waits.length, elapsed, longest: quantile(waits, 1) }
  },

  async take({ key }) {
    const { enter } = await lock
    held.set('grant', await enter(key))
    return null
  },

  /**
   * There are three keys. Each of two processes always holds one of them, waits for the key that
   * the other process releases, and then releases its own.
   */
  async relay({ key, turns }) {
    const { enter, leave } = await lock
    const came = []
    const left = []
    let [last, grant] = [key, held.get('grant')]
    for (let i = 0; i < turns; ++i) {
      const next = (last + 1) % 3
      const following = await enter(next)
      came.push(now())
      left.push(now())
      await leave(last, grant)
      ;[last, grant] = [next, following]
    }
    return { came, left }
  },

  /** Like contend, with a file that only one process can create at a time. */
  async check({ turns }) {
    const { enter, leave } = await lock
    const file = path.join(directory, 'inside')
    for (let i = 0; i < turns; ++i) {
      const grant = await enter(0)
      closeSync(openSync(file, 'wx'))
      await new Promise(setImmediate)
      unlinkSync(file)
      await leave(0, grant)
    }
    return null
  },

  async enter({ ballast = 0 }) {
    const { enter } = await lock
    held.set('ballast', Buffer.alloc(ballast, 1))
    const grant = await enter(0)
    const at = now()
    held.set('grant', grant)
    return at
  },

  async leave() {
    const { leave } = await lock
    const at = now()
    await leave(0, held.get('grant'))
    return at
  },
}

async function perSecond(ms, turn) {
  const start = now()
  let turns = 0
  do {
    for (let i = 0; i < 1_000; ++i) turn()
    turns += 1_000
  } while (now() - start < ms)
  return { turns, elapsed: now() - start }
}

/** In ms, by the clock that all processes share. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6
}

process.on('message', ({ answer, ...work }) => {
  if (answer !== undefined) {
    waiting.get(answer)()
    waiting.delete(answer)
    return
  }
  works[work.name](work).then((result) => process.send({ result }))
})
process.on('disconnect', () => process.exit())
