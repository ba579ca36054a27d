// The locks under test behind one shape. A form is one way of using a kit:
//   { create, enter, leave }  `const grant = await enter(lock, key)`, then `leave(lock, grant)`
//   { create, run }           `await run(lock, callback, key)`
// These call the kit's own method and return its own promise: an adapter that awaited would add
// microtasks, and the bench would measure the adapter.
// `permits`, when it is not 1, is the number of concurrent holders of a semaphore.
// `line` is the form for works that queue; the memory rows count its lock. `map` has mapAll(lock, items, callback), too.
const path = require('node:path')
const { floorForms } = require('./floor.js')
const { keyedForms } = require('./keyed-map.js')

const root = path.join(__dirname, '..', '..')

const kits = {
  ours: () => formsOf(loadOurs()),

  // This library again, only for the works that queue: the savings of lock() and unlock() over a
  // Releaser.
  'ours lock()': () => ({ line: ourPair(loadOurs().Mutex) }),

  // For the work that limits functions: the semaphore's method in place of a function that limit() makes.
  'ours runExclusive()': () => {
    const { Semaphore } = loadOurs()
    return {
      limit: limitOf({
        create: () => new Semaphore(limited),
        run: (semaphore, callback) => semaphore.runExclusive(callback),
      }),
    }
  },

  floor: () => floorForms({ permits: semaphorePermits, limited }),

  'async-mutex': () => {
    const { Mutex, Semaphore } = require('async-mutex')
    const create = () => new Mutex()
    const releaser = { create, enter: (mutex) => mutex.acquire(), leave: callGrant }
    const run = { create, run: (mutex, callback) => mutex.runExclusive(callback) }
    return {
      pair: { create, enter: (mutex) => mutex.acquire(), leave: (mutex) => mutex.release() },
      releaser,
      run,
      semaphore: semaphoreOf(Semaphore),
      ...keyedForms(releaser, run),
      line: releaser,
      limit: limitOf({
        create: () => new Semaphore(limited),
        run: (semaphore, callback) => semaphore.runExclusive(callback),
      }),
    }
  },

  'async-lock': () => {
    const AsyncLock = require('async-lock')
    // By default it refuses the 1,001st waiter.
    const create = () => new AsyncLock({ maxPending: Number.POSITIVE_INFINITY })
    const run = { create, run: (lock, callback) => lock.acquire('', callback) }
    const keyedRun = { create, run: (lock, callback, key) => lock.acquire(key, callback) }
    return { run, keyedRun, line: run }
  },

  'async-sema': () => {
    const { Sema } = require('async-sema')
    const form = (permits) => ({
      permits,
      create: () => new Sema(permits),
      enter: (sema) => sema.acquire(),
      leave: (sema) => sema.release(),
    })
    const pair = form(1)
    const run = runByHand(pair)
    return {
      pair,
      run,
      semaphore: form(semaphorePermits),
      ...keyedForms(pair, run),
      line: pair,
      limit: limitOf(runByHand(form(limited))),
    }
  },

  'await-lock': async () => {
    const { default: AwaitLock } = await import('await-lock')
    const pair = {
      create: () => new AwaitLock(),
      enter: (lock) => lock.acquireAsync(),
      leave: (lock) => lock.release(),
    }
    const run = runByHand(pair)
    return { pair, run, ...keyedForms(pair, run), line: pair }
  },

  superlock: () => {
    const { createLock, withLock } = require('superlock')
    const form = (permits) => ({
      permits,
      create: () => createLock(permits),
      enter: (lock) => lock(),
      leave: callGrant,
    })
    const releaser = form(1)
    const run = { create: () => withLock(1), run: (lock, callback) => lock(callback) }
    return {
      releaser,
      run,
      semaphore: form(semaphorePermits),
      ...keyedForms(releaser, run),
      line: releaser,
    }
  },

  'p-limit': async () => {
    const { default: pLimit } = await import('p-limit')
    const run = { create: () => pLimit(1), run: (limit, callback) => limit(callback) }
    const create = () => pLimit(limited)
    return {
      run,
      ...keyedForms(undefined, run),
      line: run,
      limit: limitOf({ create, run: run.run }),
      map: limitOf({
        create,
        run: run.run,
        mapAll: (limit, items, callback) => limit.map(items, callback),
      }),
    }
  },

  fastq: () => {
    const fastq = require('fastq')
    return {
      limit: limitOf({
        create: () => fastq.promise((callback) => callback(), limited),
        run: (queue, callback) => queue.push(callback),
      }),
    }
  },

  'es-toolkit': () => {
    const { limitAsync } = require('es-toolkit')
    return {
      limit: limitOf({
        create: () => limitAsync((callback) => callback(), limited),
        run: (call, callback) => call(callback),
      }),
    }
  },

  '@henrygd/queue': async () => {
    const { newQueue } = await import('@henrygd/queue')
    return {
      limit: limitOf({
        create: () => newQueue(limited),
        run: (queue, callback) => queue.add(callback),
      }),
    }
  },

  '@henrygd/semaphore': async () => {
    const { getSemaphore } = await import('@henrygd/semaphore')
    return {
      limit: limitOf(
        runByHand({
          create: () => getSemaphore(undefined, limited),
          enter: (semaphore) => semaphore.acquire(),
          leave: (semaphore) => semaphore.release(),
        }),
      ),
    }
  },

  'async-rwlock': () => {
    const { RWLock } = require('async-rwlock')
    const create = () => new RWLock()
    const leave = (lock) => lock.unlock()
    const reading = runByHand({ create, enter: (lock) => lock.readLock(), leave })
    const writing = runByHand({ create, enter: (lock) => lock.writeLock(), leave })
    return { readMostly: readMostly({ create, read: reading.run, write: writing.run }) }
  },

  '@matrixai/async-locks': async () => {
    const { RWLockWriter } = await import('@matrixai/async-locks')
    return {
      readMostly: readMostly({
        create: () => new RWLockWriter(),
        read: (lock, callback) => lock.withReadF(callback),
        write: (lock, callback) => lock.withWriteF(callback),
      }),
    }
  },
}

const semaphorePermits = 4
/** How many functions the works `limit` and `map` run at a time. */
const limited = 5
const limitOf = (form) => ({ permits: limited, ...form })
const runsAWrite = 20

/** Loads this library, or `file` of it. BOXOFFICE_BENCH_OURS names another checkout, to compare two versions. */
function loadOurs(file = '') {
  return require(path.join(process.env.BOXOFFICE_BENCH_OURS || root, file))
}

function ourPair(Mutex) {
  return {
    create: () => new Mutex(),
    enter: (mutex) => mutex.lock(),
    leave: (mutex) => mutex.unlock(),
  }
}

function semaphoreOf(Semaphore, permits = semaphorePermits) {
  return {
    permits,
    create: () => new Semaphore(permits),
    enter: (semaphore) => semaphore.acquire(),
    leave: (_semaphore, [, release]) => release(),
  }
}

/** One of twenty runs writes, including the first one of each lock. */
function readMostly({ create, read, write }) {
  let turn = 0
  return {
    create: () => {
      turn = 0
      return create()
    },
    run: (lock, callback) =>
      turn++ % runsAWrite === 0 ? write(lock, callback) : read(lock, callback),
  }
}

function callGrant(_lock, release) {
  release()
}

/** The usual code around a kit without a run method. */
function runByHand({ create, enter, leave }) {
  return {
    create,
    run: async (lock, callback) => {
      const grant = await enter(lock)
      try {
        return await callback()
      } finally {
        leave(lock, grant)
      }
    },
  }
}

/** This library, by its classes. */
function formsOf({ Mutex, Semaphore, KeyedMutex, RWLock }) {
  const create = () => new Mutex()
  const keyed = () => new KeyedMutex()
  const releaser = { create, enter: (mutex) => mutex.acquire(), leave: callGrant }
  return {
    pair: ourPair(Mutex),
    releaser,
    run: { create, run: (mutex, callback) => mutex.runExclusive(callback) },
    semaphore: semaphoreOf(Semaphore),
    keyed: { create: keyed, enter: (locks, key) => locks.acquire(key), leave: callGrant },
    keyedRun: {
      create: keyed,
      run: (locks, callback, key) => locks.runExclusive(key, callback),
    },
    readMostly: readMostly({
      create: () => new RWLock(),
      read: (lock, callback) => lock.runShared(callback),
      write: (lock, callback) => lock.runExclusive(callback),
    }),
    line: releaser,
    limit: limitOf({
      create: () => new Semaphore(limited).limit((callback) => callback()),
      run: (call, callback) => call(callback),
    }),
    map: limitOf({
      create: () => new Semaphore(limited),
      run: (semaphore, callback) => semaphore.runExclusive(callback),
      mapAll: (semaphore, items, callback) => semaphore.map(items, callback),
    }),
  }
}

module.exports = { formsOf, kits, loadOurs }
