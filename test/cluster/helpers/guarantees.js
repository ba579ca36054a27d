'use strict'
// What a lock keeps when something fails: observed by a process that has no lock, and compared with the table of
// docs/guarantees.md.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { participant } = require('./participants.js')

const file = join(__dirname, '../../../docs/guarantees.md')

/**
 * The ttl of sessions, in ms, which a stall of two seconds does not end; and the time in which a session that is not
 * renewed is over for every server.
 */
const usualTtl = 3100
const timeOver = (ttl) => 1.5 * ttl + 1000

/** The options of engines: only the end of a session ends a hold. */
const optionsOf = (ttl) => ({ ttl, maxHold: 600_000 })

/** A store that advances its fence when it is read, and refuses older tokens. It knows no lock. */
class Register {
  #fence = 0n

  read(token) {
    if (BigInt(token) <= this.#fence) return false
    this.#fence = BigInt(token)
    return true
  }

  write(token) {
    return BigInt(token) === this.#fence
  }
}

/**
 * `holder` acquires a key, then fault() happens, and `rival`, or the process that it resolves to, acquires the key too.
 * Returns the cell of the table: whether exclusion holds, whether the fence holds, and what the holder hears. If it hears
 * nothing for `silence` ms after the grant to the rival, end() ends the fault, and the cell says that it hears `ending`,
 * or else why it hears then.
 */
async function observe({ holder, rival, fault, end, ending, ttl = usualTtl, silence = ttl }) {
  const patience = timeOver(ttl)
  const key = randomUUID()
  const register = new Register()
  const { token } = await holder.ask('acquire', { key, timeout: 30_000 })
  assert.equal(register.read(token), true)
  const loss = holder.ask('lost', { key })
  loss.catch(() => {}) // it is pending while the process ends, if the key is not lost
  await fault()
  const other = typeof rival === 'function' ? await rival() : rival
  const acquired = acquire(other, key)
  const isOver = Promise.race([loss, acquired]).then(() => true)
  if (!(await Promise.race([isOver, sleep(patience, false, unheld)]))) {
    assert.equal((await holder.ask('token', { key })).isLost, false)
    assert.equal(register.write(token), true)
    await end?.()
    await holder.ask('release', { key })
    const next = await acquired
    return cellOf(true, register.read(next.token) && !register.write(token), 'nothing')
  }
  const next = await acquired
  const isNewer = register.read(next.token)
  const isFenced = isNewer && !register.write(token) && register.write(next.token)
  const heard = await Promise.race([loss, sleep(silence, undefined, unheld)])
  if (heard !== undefined) {
    // A holder that stands still at that moment hears later, but any code that it runs would find its time over.
    const over = Math.min(heard.at, heard.end)
    return cellOf(over < next.at, isFenced, hearing(heard))
  }
  if (end === undefined) return cellOf(false, isFenced, 'nothing')
  await end()
  const late = await loss
  return cellOf(false, isFenced, ending ?? hearing(late))
}

/** Its timer does not keep this process alive. */
const unheld = { ref: false }

/** Repeats a call that is rejected because no server answers. */
async function acquire(process, key) {
  for (;;) {
    try {
      return await process.ask('acquire', { key, timeout: 30_000 })
    } catch (error) {
      if (error.code !== 'ERR_LOCK_ENGINE') throw error
    }
  }
}

const word = (isTrue) => (isTrue ? 'yes' : '**no**')
const cellOf = (isExclusive, isFenced, hears) => `${word(isExclusive)}, ${word(isFenced)}, ${hears}`

function hearing({ why }) {
  if (/server has ended/.test(why)) return 'at renewal'
  assert.match(why, /renewed in time/)
  return 'at `ttl`'
}

/** The documented table: by fault, by engine. */
function documented() {
  const lines = readFileSync(file, 'utf8').split('\n')
  const rows = lines.filter((line) => line.startsWith('| '))
  const [[, ...engines], , ...faults] = rows.map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
  const named = (cells) => Object.fromEntries(cells.map((cell, i) => [engines[i], cell]))
  return new Map(faults.map(([fault, ...cells]) => [fault, named(cells)]))
}

/** Tests of `engine`, from the bodies by fault. body(world) resolves to the cell. */
function cells(engine, connector, bodies) {
  const ends = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  const world = {
    /** Closes it after the test. */
    keep(made) {
      ends.push(() => made.close())
      return made
    },
    /** A process that uses the engine, at this place. */
    async process(place, { ttl = usualTtl, within } = {}) {
      const made = await participant({ connector, port: place, within, options: optionsOf(ttl) })
      ends.push(() => made.kill())
      return made
    },
    async processes([place, other = place], { nodes: [one, next] = [], ttl } = {}) {
      const [holder, rival] = await Promise.all([
        world.process(place, { ttl, within: one?.within }),
        world.process(other, { ttl, within: next?.within }),
      ])
      return { holder, rival }
    },
  }
  for (const [fault, body] of Object.entries(bodies)) {
    it(`${fault}: the table shows what happens`, async () => {
      assert.equal(await body(world), documented().get(fault)?.[engine])
    })
  }
}

module.exports = { cells, documented, observe, timeOver, usualTtl }
