// The cost of a package for a process that has loaded nothing else, with or without a first lock.
//   node --expose-gc bench/js/load.js kit [use]
// Prints { value, bytes } as JSON: the milliseconds, and the heap that is then in use.
const { loadOurs } = require('./kits.js')

const packages = {
  ours: { load: loadOurs, use: ({ Mutex }) => new Mutex().acquire() },
  'async-mutex': {
    load: () => require('async-mutex'),
    use: ({ Mutex }) => new Mutex().acquire(),
  },
  'async-lock': {
    load: () => require('async-lock'),
    use: (AsyncLock) => new AsyncLock().acquire('key', () => {}),
  },
  'async-sema': {
    load: () => require('async-sema'),
    use: ({ Sema }) => new Sema(1).acquire(),
  },
}

main(...process.argv.slice(2))

async function main(kit, isUsed) {
  if (packages[kit] === undefined) return console.log(null)
  const { load, use } = packages[kit]
  heapInUse() // the first query takes memory, too
  const before = heapInUse()
  const start = performance.now()
  const loaded = load()
  if (isUsed) await use(loaded)
  const value = performance.now() - start
  console.log(JSON.stringify({ value, bytes: heapInUse() - before }))
}

function heapInUse() {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
