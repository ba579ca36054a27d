// What one acquisition costs in each scope, as something grows: the queue, the keys, the threads, the processes, and the
// leases that a process has of a server. Each measure(kit, size) resolves to nanoseconds or, over a server, microseconds.
const { mkdtempSync, rmSync } = require('node:fs')
const { contend } = require('./host-rows.js')
const { loadOurs } = require('./kits.js')
const { turnsOfQueue } = require('./queue.js')
const { nanosecondsAKey, measuredMs, warmUpMs } = require('./rows.js')
const { withLeases } = require('./scale-rows.js')
const { measureThreads } = require('./threads.js')

/** The options of a lock of each scope; `use` may use the files of its directory. */
const scopes = {
  'boxoffice, one thread': (use) => use({}),
  'boxoffice, threads': (use) => use({ name: 'bench' }),
  'boxoffice, processes': async (use) => {
    const directory = mkdtempSync('/dev/shm/boxoffice-bench-')
    try {
      return await use({ name: 'bench', scope: 'host', directory })
    } finally {
      rmSync(directory, { recursive: true })
    }
  },
}

/** How threads take a mutex: the kit and the form of thread-kits.js. */
const ways = {
  'boxoffice, lock()': ['ours', 'awaiting'],
  'boxoffice, lockSync()': ['ours', 'blocking'],
  'article, lockAsync()': ['article', 'awaiting'],
  'article, lock()': ['article', 'blocking'],
}

/** The kits of host-kits.js. */
const betweenProcesses = {
  boxoffice: 'ours',
  'flock of fs-ext': 'flock of fs-ext',
  'fs-native-extensions': 'fs-native-extensions',
}

const scopeCurves = {
  'scope-queue': { kits: Object.keys(scopes), measure: inQueue },
  'scope-keys': { kits: Object.keys(scopes), measure: withKeys },
  threads: { kits: Object.keys(ways), measure: betweenThreads },
  processes: {
    kits: Object.keys(betweenProcesses),
    measure: async (kit, count) => perTurn(await contend(betweenProcesses[kit], count, 1)),
  },
  leases: {
    kits: ['Redis', 'PostgreSQL', 'etcd'],
    measure: async (server, count) => ({ value: 1e3 / (await withLeases(server, count)).value }),
  },
}

/** From thousands a second to nanoseconds. */
const perTurn = ({ value }) => ({ value: 1e6 / value })

/** `tasks` of one thread contend for a mutex. */
function inQueue(kit, tasks) {
  return scopes[kit](async (options) => {
    const { Mutex } = loadOurs()
    const create = () => new Mutex(options)
    const form = { create, enter: (mutex) => mutex.lock(), leave: (mutex) => mutex.unlock() }
    await turnsOfQueue(form, 100, warmUpMs)
    return { value: await turnsOfQueue(form, tasks, measuredMs) }
  })
}

function withKeys(kit, count) {
  return scopes[kit](async (options) => {
    const { KeyedMutex } = loadOurs()
    const create = () => new KeyedMutex(options)
    const run = (mutex, body, key) => mutex.runExclusive(key, body)
    return { value: await nanosecondsAKey({ create, run }, count) }
  })
}

/** Each of `count` workers has one task. */
async function betweenThreads(kit, count) {
  const [library, form] = ways[kit]
  const threads = Array.from({ length: count }, () => ({ place: 'worker', form }))
  return perTurn(await measureThreads({ work: 'contend', threads, tasks: 1 }, library))
}

module.exports = { scopeCurves }
