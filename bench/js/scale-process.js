// One of the processes that use a server: it stands for as many as it has engines, each with a session of its own. It
// runs the commands of scale-rows.js, one message after the other.
//   node scale-process.js server port
const { setTimeout: sleep } = require('node:timers/promises')
const { loadOurs } = require('./kits.js')
const { scaleServers } = require('./scale-servers.js')

const [server, port] = process.argv.slice(2)
const locks = []
const connections = []

const works = {
  async open({ engines }) {
    const { KeyedMutex } = loadOurs()
    const makeEngine = await scaleServers[server].open(Number(port))
    for (let i = 0; i < engines; ++i) {
      const engine = makeEngine()
      await engine.ready({ timeout: 60_000 })
      locks.push(new KeyedMutex({ engine }))
    }
  },

  /** As many sessions of Redis as `count`, which do what idle ones do: listen, and be renewed every third of their ttl. */
  async simulate({ count }) {
    const { Redis } = require('ioredis')
    const own = new Redis(Number(port), '127.0.0.1')
    const names = Array.from({ length: count }, (_, i) => `{boxoffice:0}:s:simulated${i}`)
    for (const name of names) {
      const one = new Redis(Number(port), '127.0.0.1', { lazyConnect: true })
      await one.connect()
      await one.subscribe(name.replace(':s:', ':to:'))
      await own.set(name, 'bench:0 10000', 'PX', 10_000)
      connections.push(one)
    }
    let next = 0
    setInterval(() => {
      const renewed = Math.ceil((count * 10) / (10_000 / 3))
      for (let i = 0; i < renewed; ++i) own.pexpire(names[next++ % count], 10_000)
    }, 10)
  },

  /** Keeps that many keys, which no caller of alone() takes. */
  async hold({ count }) {
    const names = Array.from({ length: count }, (_, i) => `held ${i}`)
    while (names.length > 0)
      await Promise.all(names.splice(0, 100).map((name) => locks[0].acquire(name)))
  },

  /** One caller, with keys at random. */
  async alone({ keys, ms }) {
    const nextKey = () => `${Math.floor(Math.random() * keys)}`
    return loop(locks[0], nextKey, now() + ms, new Leases())
  },

  /** `tasks` callers for each engine, all with one key. */
  async hot({ tasks, ms }) {
    const end = now() + ms
    const leases = locks.map(() => new Leases())
    const callers = locks.flatMap((lock, i) =>
      Array.from({ length: tasks }, () => loop(lock, () => 'hot', end, leases[i])),
    )
    const all = await Promise.all(callers)
    return {
      turns: all.reduce((sum, { turns }) => sum + turns, 0),
      waits: all.flatMap(({ waits }) => waits),
      leases: leases.reduce((sum, { count }) => sum + count, 0),
    }
  },

  idle: ({ ms }) => sleep(ms),
}

/** Counts the leases of one key in one process: the grants of one lease have successive tokens. */
class Leases {
  count = 0
  #last = 0n

  note(token) {
    if (token !== this.#last + 1n) this.count++
    this.#last = token
  }
}

async function loop(lock, nextKey, end, leases) {
  const waits = []
  let turns = 0
  for (let asked = now(); asked < end; asked = now()) {
    const release = await lock.acquire(nextKey())
    if (turns++ % 10 === 0) waits.push(now() - asked)
    leases.note(release.fencingToken)
    await null
    release()
  }
  return { turns, waits }
}

const now = () => performance.now()

process.on('message', (work) => {
  works[work.name](work).then((result) => process.send({ result: result ?? null }))
})
process.on('disconnect', () => process.exit())
