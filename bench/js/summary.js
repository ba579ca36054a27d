// The table at the top of docs/performance.md, from docs/results/, between the marks
//   <!-- summary --> and <!-- end of summary -->
// It has a row for each work: boxoffice, the floor, and the best of the other libraries.
const { moreIsBetter } = require('./bars.js')
const { round } = require('./numbers.js')
const { allRows, results } = require('./results.js')
const { numberOf, table } = require('./tables.js')

const oneThread = [
  'pair',
  'releaser',
  'run',
  'semaphore',
  'keyed-acquire',
  'keyed-run',
  'keyed-hot',
]
const queues = ['contended', 'drain', 'limit', 'map', 'waiter-bytes', 'lock-bytes', 'load']
const cluster = ['cluster-alone', 'cluster-hand-off', 'cluster-4-20']

/** Each file of results, with its rows here, the kit of this library, and the kits that are the floors of the rows. */
const sections = [
  { file: 'one-thread', rows: [...oneThread, ...queues], floors: ['floor'] },
  { file: 'read-write', rows: ['read-mostly', 'read-mostly-contended'] },
  { file: 'threads', rows: ['main-worker-1', 'main-worker-10', 'workers-sync'] },
  {
    file: 'web-locks',
    rows: ['locks-uncontended', 'locks-queued-10000'],
    ours: 'ours, Node 24',
    peers: ['navigator.locks, Node 24'],
  },
  {
    file: 'processes',
    rows: [
      'host-now',
      'host-uncontended',
      'host-4-one-key',
      'host-4-keys',
      'host-hand-off',
      'host-relay',
      'host-death',
    ],
    floors: ['a byte in a FIFO'],
  },
  // The title of their rows begins with "by a server".
  {
    file: 'redis',
    server: 'Redis',
    rows: cluster,
    ours: 'ours, redis',
    floors: ['a PING', 'a PUBLISH'],
  },
  {
    file: 'postgres',
    server: 'PostgreSQL',
    rows: cluster,
    ours: 'ours, PostgreSQL',
    floors: ['SELECT 1', 'a NOTIFY'],
  },
  { file: 'etcd', server: 'etcd', rows: cluster, ours: 'ours, etcd', floors: ['a get'] },
]

const part = /^<!-- summary -->\n[\s\S]*?^<!-- end of summary -->$/m

/** `text` with the summary of the results read(name). */
function withSummary(text, read) {
  return text.replace(part, () => `<!-- summary -->\n\n${summaryOf(read)}\n<!-- end of summary -->`)
}

function summaryOf(read) {
  const body = sections.flatMap((section) => {
    const { cells } = read(section.file)
    return section.rows.map((row) => rowOf(cells, row, section)).filter(Boolean)
  })
  return table([
    ['work', '', 'ours', 'floor', 'of the floor', 'best other', 'of the best other'],
    ...body,
  ])
}

function rowOf(cells, row, { file, server, ours: our = 'ours', floors = [], peers }) {
  const medianOf = (kit) => numberOf(cells, row, kit)
  const ours = medianOf(our)
  if (ours === undefined) return undefined
  const isMore = moreIsBetter(allRows[row])
  const isPeer = (kit) =>
    !floors.includes(kit) && (peers ? peers.includes(kit) : !/^ours|, Node 24$/.test(kit))
  const others = kitsOf(file).filter((kit) => isPeer(kit) && medianOf(kit) !== undefined)
  const [best] = others.toSorted((a, b) => (medianOf(a) - medianOf(b)) * (isMore ? -1 : 1))
  const ratioTo = (other) => {
    if (other === undefined) return ''
    return `${round(isMore ? ours / other : other / ours)}x`
  }
  const floor = floors.map(medianOf).find((median) => median !== undefined)
  const { lines, title, unit } = allRows[row]
  return [
    title.replace('by a server', server),
    unit ?? lines[0].unit,
    round(ours),
    floor === undefined ? '' : round(floor),
    ratioTo(floor),
    best === undefined ? '' : `${best}: ${round(medianOf(best))}`,
    ratioTo(best === undefined ? undefined : medianOf(best)),
  ]
}

const kitsOf = (file) => [...new Set(results[file].flatMap(({ kits }) => Object.keys(kits)))]

module.exports = { withSummary }
