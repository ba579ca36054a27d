// One of the processes that share a lock through a server. It runs the commands of cluster-rows.js,
// one message after the other.
//   node cluster-process.js kit port
const { setTimeout: sleep } = require('node:timers/promises')
const { clusterKits } = require('./cluster-kits.js')

const [kit, port] = process.argv.slice(2)
const lock = clusterKits[kit].open(Number(port))
let grant
let left

const works = {
  async ready() {
    const { enter, leave } = await lock
    await leave(await enter(`${process.pid}`))
  },

  /** Ends when what the acquire has started besides, such as a thread, is there. */
  async first({ key }) {
    const { enter, leave } = await lock
    await sleep(500)
    const before = process.cpuUsage()
    const start = now()
    const grant = await enter(key)
    const elapsed = now() - start
    await leave(grant)
    await sleep(500)
    const { user, system } = process.cpuUsage(before)
    return { value: (user + system) / 1000, elapsed }
  },

  /** `tasks` at once, each locking `key` repeatedly for `ms`. */
  async contend({ key, tasks, ms }) {
    const { enter, leave } = await lock
    const start = now()
    const waits = []
    const task = async () => {
      for (let asked = start; asked - start < ms; ) {
        const grant = await enter(key)
        waits.push(now() - asked)
        await null
        await leave(grant)
        asked = now()
      }
    }
    await Promise.all(Array.from({ length: tasks }, task))
    return { turns: waits.length, elapsed: now() - start, waits: sample(waits) }
  },

  /** `tasks` at once, each once. */
  async drain({ key, tasks }) {
    const { enter, leave } = await lock
    const start = now()
    const task = async () => leave(await enter(key))
    await Promise.all(Array.from({ length: tasks }, task))
    return { turns: tasks, elapsed: now() - start }
  },

  async enter({ key }) {
    grant = await (await lock).enter(key)
    return now()
  },

  /** Replies at once, and acts later. */
  async leaveIn({ ms }) {
    const { leave } = await lock
    left = sleep(ms).then(async () => {
      const at = now()
      await leave(grant)
      return at
    })
  },

  /** The time at which it acted. */
  left: () => left,
}

/** Enough for quantiles. */
function sample(waits) {
  const step = Math.max(1, Math.floor(waits.length / 1_000))
  return waits.filter((_, i) => i % step === 0)
}

/** In ms, by the clock that all processes share. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6
}

process.on('message', (work) => {
  works[work.name](work).then((result) => process.send({ result: result ?? null }))
})
process.on('disconnect', () => process.exit())
