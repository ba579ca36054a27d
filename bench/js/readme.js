// The table of measured speed in the README, from docs/results/, between the marks
//   <!-- speed --> and <!-- end of speed -->
// and the chart below it.
const path = require('node:path')
const { drawBars } = require('./bar-chart.js')
const { round } = require('./numbers.js')
const { numberOf, table } = require('./tables.js')

const libraries = [
  'boxoffice',
  'async-mutex',
  'async-lock',
  'p-limit',
  'navigator.locks',
  'proper-lockfile',
  'redlock',
  'redis-semaphore',
]

/** The kits that represent a library in a file of results, if their names differ. */
const oneThread = { file: 'one-thread', boxoffice: 'ours' }
const webLocks = { file: 'web-locks', 'navigator.locks': 'navigator.locks, Node 24' }
const processes = { file: 'processes', boxoffice: 'ours' }
const redis = { file: 'redis', boxoffice: 'ours, redis' }

const works = [
  { ...oneThread, row: 'run', title: 'one lock, no contention' },
  { ...oneThread, row: 'keyed-run', title: 'a lock per key, 100,000 keys' },
  { ...oneThread, row: 'contended', title: '1,000 tasks contend for one lock' },
  { ...oneThread, row: 'drain', title: '100,000 waiters, until the last has run', unit: 'ms' },
  {
    ...webLocks,
    boxoffice: 'ours, Node 24',
    row: 'locks-uncontended',
    title: '`locks.request()`, no contention',
  },
  {
    ...webLocks,
    boxoffice: 'LockManager, Node 24',
    row: 'main-worker-10',
    title: '`locks.request()`, two threads contend, 10 tasks each',
  },
  { ...processes, row: 'host-uncontended', title: 'processes, one caller, no contention' },
  { ...processes, row: 'host-4-keys', title: '4 processes contend for 1,000 keys' },
  { ...redis, row: 'cluster-alone', title: 'Redis, one caller, no contention' },
  { ...redis, row: 'cluster-4-20', title: 'Redis, 4 processes contend, 20 callers each' },
  { ...redis, row: 'cluster-hand-off', title: 'Redis, hand-off to another process', unit: 'ms' },
]

const part = /^<!-- speed -->\n[\s\S]*?^<!-- end of speed -->$/m

/** `text` with the table of the results read(name). */
function withSpeed(text, read) {
  return text.replace(part, () => `<!-- speed -->\n\n${tableOfSpeed(read)}\n<!-- end of speed -->`)
}

function tableOfSpeed(read) {
  const rows = works.map(({ file, row, title, unit = 'k/s', ...kits }) => {
    const { cells } = read(file)
    return {
      title: `${title}, ${unit}`,
      texts: libraries.map((name) => medianOf(cells, row, kits[name] ?? name)),
    }
  })
  // Results that are older than the kit of a library have no number of it.
  const columns = [...libraries.keys()].filter((i) => rows.some(({ texts }) => texts[i] !== ''))
  const body = rows.map(({ title, texts }) => [title, ...columns.map((i) => texts[i])])
  return table([['median', ...columns.map((i) => libraries[i])], ...body])
}

function medianOf(cells, row, kit) {
  const value = numberOf(cells, row, kit)
  return value === undefined ? '' : round(value)
}

/** The works of the chart, and the kits of each by the names in the chart. */
const panels = [
  {
    title: 'One process, 100,000 users: each request locks its user',
    file: 'one-thread',
    row: 'keyed-run',
    kits: {
      boxoffice: 'ours',
      'await-lock': 'await-lock',
      'async-lock': 'async-lock',
      superlock: 'superlock',
      'async-sema': 'async-sema',
      'async-mutex': 'async-mutex',
      'p-limit': 'p-limit',
    },
  },
  {
    title: 'Four processes, 1,000 users: all contend for the same locks',
    file: 'processes',
    row: 'host-4-keys',
    kits: {
      'boxoffice, scope host': 'ours',
      'fs-ext (flock)': 'flock of fs-ext',
      'fs-native-extensions': 'fs-native-extensions',
      'Map in the primary process': 'Map in the primary',
      'redis-semaphore': 'redis-semaphore',
    },
  },
]

const chartFile = path.join(__dirname, '..', '..', 'docs', 'speed.svg')

/** The chart as SVG. */
function chartOfSpeed(read) {
  return drawBars({
    title: 'A lock per user: locks a second (more is better)',
    unit: 'locks a second',
    text: (value) => value.toLocaleString('en-US', { maximumSignificantDigits: 3 }),
    panels: panels.map(({ title, file, row, kits }) => {
      const { cells } = read(file)
      const bars = Object.entries(kits).map(([name, kit]) => {
        return { name, value: 1000 * numberOf(cells, row, kit), isOurs: kit === 'ours' }
      })
      return { title, bars: bars.toSorted((a, b) => b.value - a.value) }
    }),
  })
}

module.exports = { chartFile, chartOfSpeed, withSpeed }
