// One of the processes that share a lock. It does what host-rows.js asks of it, one message after the other.
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

/** Asks the process that started us, as a worker of node:cluster asks its primary. */
function ask(question, { isAnswered = true } = {}) {
  const id = ++lastQuestion
  process.send({ question, id })
  return isAnswered ? new Promise((resolve) => waiting.set(id, resolve)) : undefined
}

const lock = hostKits[kit].open({ directory, ask, ...rest })
const held = new Map()

const works = {
  /** By what does not wait, in batches, so that the clock costs nothing. */
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

  /** Alone with one of `keys`, over and over, for `ms`. */
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
   * Of three keys each of two processes has one, which it has taken, at any time; it waits for the one that the
   * other lets go of, and then lets go of its own.
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

  /** As contend, with a file that only one can make at a time. */
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

/** In ms, by the one clock of all processes. */
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
