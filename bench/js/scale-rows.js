// What an acquisition costs, and what it costs the server, as keys, sessions and the processes that want one key grow.
const { quantile } = require('./numbers.js')
const { startProcess } = require('./processes.js')
const { processorTime, scaleServers } = require('./scale-servers.js')

const measuredMs = 3_000
const warmUpMs = 1_000
const callers = 10
/** The most engines in one process: each has a thread. */
const mostEngines = 10
/** The most real sessions. More are simulated, over Redis only. */
const mostSessions = 100

const keys = [1, 1_000, 1_000_000]
const sessions = [1, 10, 100, 1_000, 10_000]
const rivals = [1, 2, 10, 100]

const costs = [
  { field: 'value', title: 'acquisitions', unit: 'k/s' },
  { field: 'p50', title: 'wait, p50', unit: 'ms' },
  { field: 'processor', title: "server's processor time", unit: 'us' },
]
const titled = (what, lines) =>
  lines.map(({ title, ...line }) => ({ ...line, title: `${what}: ${title}` }))
const row = (title, lines, measure) => ({
  title,
  unit: 'k/s',
  measure,
  lines: titled(title, lines),
})
const many = (number, one, more) =>
  number === 1 ? `1 ${one}` : `${number.toLocaleString('en-US')} ${more}`

const families = {
  keys: {
    counts: keys,
    title: (count) => `one caller, ${many(count, 'key', 'keys at random')}`,
    more: [{ field: 'bytes', title: 'bytes of a free key', unit: 'B' }],
    measure: withKeys,
  },
  sessions: {
    counts: sessions,
    title: (count) => `one caller, ${many(count, 'session', 'sessions')}`,
    more: [{ field: 'idle', title: "server's processor time at rest", unit: 'ms/s' }],
    measure: withSessions,
  },
  hot: {
    counts: rivals,
    title: (count) => `one key, ${many(count, 'process', 'processes')} of ${callers} callers each`,
    more: [
      { field: 'p99', title: 'wait, p99', unit: 'ms' },
      { field: 'leases', title: 'leases', unit: '1/s' },
      { field: 'lease', title: "server's processor time, lease", unit: 'us' },
    ],
    measure: withRivals,
  },
}

const scaleRows = {}
for (const [family, { counts, title, more, measure }] of Object.entries(families)) {
  for (const count of counts) {
    const measureOne = (server) => measure(server, count)
    scaleRows[`scale-${family}-${count}`] = row(title(count), [...costs, ...more], measureOne)
  }
}

function withKeys(server, count) {
  return withServer(server, async ({ port, start }) => {
    const [one] = await start(1)
    const bytes = await scaleServers[server].fill(port, count)
    const result = await alone(port, one, count)
    return { ...result, bytes: count >= 1_000 && bytes ? bytes / count : undefined }
  })
}

/** One caller, in a process that has `count` leases of other keys. */
function withLeases(server, count) {
  return withServer(server, async ({ port, start }) => {
    const [one] = await start(1)
    await one.do({ name: 'hold', count })
    return alone(port, one, 1_000)
  })
}

function withSessions(server, count) {
  const simulated = Math.max(0, count - mostSessions)
  if (simulated > 0 && server !== 'Redis') return null
  return withServer(server, async ({ port, start, startOne }) => {
    const [one] = await start(count - simulated)
    if (simulated > 0) await (await startOne()).do({ name: 'simulate', count: simulated })
    const [idle] = await spent(port, () => one.do({ name: 'idle', ms: measuredMs }))
    const result = await alone(port, one, 1_000)
    return { ...result, idle: idle / (measuredMs / 1_000) }
  })
}

function withRivals(server, count) {
  return withServer(server, async ({ port, start }) => {
    const all = await start(count)
    const each = (work) => Promise.all(all.map((one) => one.do(work)))
    await each({ name: 'hot', tasks: callers, ms: warmUpMs })
    const [ms, results] = await spent(port, () =>
      each({ name: 'hot', tasks: callers, ms: measuredMs }),
    )
    const sum = (field) => results.reduce((total, one) => total + one[field], 0)
    const waits = results.flatMap((one) => one.waits)
    return {
      value: sum('turns') / measuredMs,
      p50: quantile(waits, 0.5),
      p99: quantile(waits, 0.99),
      processor: (1_000 * ms) / sum('turns'),
      leases: sum('leases') / (measuredMs / 1_000),
      lease: (1_000 * ms) / sum('leases'),
    }
  })
}

async function alone(port, one, count) {
  await one.do({ name: 'alone', keys: count, ms: warmUpMs })
  const [ms, { turns, waits }] = await spent(port, () =>
    one.do({ name: 'alone', keys: count, ms: measuredMs }),
  )
  return {
    value: turns / measuredMs,
    p50: quantile(waits, 0.5),
    processor: (1_000 * ms) / turns,
  }
}

/** The processor time of the server, in ms, and the result of `act`. */
async function spent(port, act) {
  const before = processorTime(port)
  const result = await act()
  return [processorTime(port) - before, result]
}

async function withServer(server, use) {
  const { port, close } = await scaleServers[server].start()
  const all = []
  async function startOne(engines = 0) {
    const one = startProcess('scale-process.js', [server, `${port}`])
    all.push(one)
    if (engines > 0) await one.do({ name: 'open', engines })
    return one
  }
  /** Processes with `count` engines in all. */
  async function start(count) {
    const started = []
    for (let left = count; left > 0; left -= mostEngines)
      started.push(await startOne(Math.min(left, mostEngines)))
    return started
  }
  try {
    return await use({ port, start, startOne })
  } finally {
    for (const { child } of all) child.kill('SIGKILL')
    await Promise.all(all.map(({ ended }) => ended))
    await close()
  }
}

module.exports = { scaleRows, withLeases }
