'use strict'
// The order of locks with `diagnostics: { order: true }`: a pair that is taken in both orders is reported once, by its
// stacks, though there is no deadlock; and nothing else is.
const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const { KeyedMutex, KeyedSemaphore, Mutex, RecursiveMutex, RWLock, Semaphore } = require('../..')
const { fakeWorld } = require('../cluster/helpers/fake_world.js')
const { freshName, sleep, useAgents } = require('../helpers/agents.js')
const { runCode } = require('../helpers/processes.js')
const { useHosts } = require('../helpers/hosts.js')
const { nextWarning, useWarnings, warningsOf } = require('../helpers/warnings.js')

const code = 'BOXOFFICE_LOCK_ORDER'
const diagnostics = { order: true }
const turn = () => new Promise(setImmediate)
/** The warnings of `work`, which process.emitWarning() delivers in a later tick. */
const told = (work) =>
  warningsOf(code, async () => {
    await work()
    await turn()
  })

/** Both of `takes` inside each other, each a function (inside) that runs `inside` under its lock. */
async function inBothOrders(one, other) {
  await one(() => other(async () => {}))
  await other(() => one(async () => {}))
}

const held = (acquire, releaseOf) => async (inside) => {
  const release = releaseOf(await acquire())
  try {
    return await inside()
  } finally {
    release()
  }
}
const whole = (release) => release
let hosts

// How callers of each kind of lock take it.
const kinds = {
  'a mutex, by acquire()': () => {
    const mutex = new Mutex({ name: freshName(), diagnostics })
    return held(() => mutex.acquire(), whole)
  },
  'a mutex, by acquire() with a timeout': () => {
    const mutex = new Mutex({ name: freshName(), diagnostics })
    return held(() => mutex.acquire({ timeout: 60_000 }), whole)
  },
  'a mutex, by lock()': () => {
    const mutex = new Mutex({ name: freshName(), diagnostics })
    return held(
      () => mutex.lock(),
      () => () => mutex.unlock(),
    )
  },
  'a mutex without a name': () => {
    const mutex = new Mutex({ diagnostics })
    return (inside) => mutex.runExclusive(inside)
  },
  'a recursive mutex': () => {
    const mutex = new RecursiveMutex({ name: freshName(), diagnostics })
    return (inside) => mutex.runExclusive(() => mutex.runExclusive(inside))
  },
  'a semaphore': () => {
    const semaphore = new Semaphore(3, { diagnostics })
    return held(
      () => semaphore.acquire(2),
      ([, release]) => release,
    )
  },
  'a semaphore between threads': () => {
    const semaphore = new Semaphore(3, { name: freshName(), diagnostics })
    return (inside) => semaphore.runExclusive(inside)
  },
  'a reader': () => {
    const lock = new RWLock({ diagnostics })
    return held(() => lock.acquireRead(), whole)
  },
  'a reader between threads': () => {
    const lock = new RWLock({ name: freshName(), diagnostics })
    return held(() => lock.acquireRead(), whole)
  },
  'a writer': () => {
    const lock = new RWLock({ diagnostics })
    return (inside) => lock.runExclusive(inside)
  },
  'keys of a mutex': () => {
    const mutex = new KeyedMutex({ name: freshName(), diagnostics })
    let last = 0
    return (inside) => mutex.runExclusive(`key ${++last}`, inside)
  },
  'keys of a semaphore': () => {
    const semaphore = new KeyedSemaphore(2, { diagnostics })
    return (inside) => semaphore.runExclusive('k', inside)
  },
  'a mutex of scope host': () => {
    const mutex = new Mutex({
      name: freshName(),
      scope: 'host',
      directory: hosts.directory,
      diagnostics,
    })
    return (inside) => mutex.runExclusive(inside)
  },
}

describe('The order of locks', function () {
  this.timeout(20_000)
  useWarnings(code)
  const { newEngine } = fakeWorld()
  hosts = useHosts()

  for (const [kind, make] of Object.entries(kinds)) {
    it(`is reported when two callers differ: ${kind}`, async () => {
      const other = new Mutex({ name: freshName(), diagnostics })
      const one = make()
      const warnings = await told(async () => {
        for (let i = 0; i < 3; i++) await inBothOrders(one, (inside) => other.runExclusive(inside))
      })
      assert.equal(warnings.length, 1)
      assert.match(warnings[0].message, /acquired inside each other, in both orders/)
      assert.match(warnings[0].detail, /^The main thread acquired .*\n +at .*lock_order\.test\.js/)
      assert.equal(warnings[0].detail.match(/ {2}and inside it .*\n +at /g).length, 2)
    })
  }

  it('is reported with the locks and both stacks', async () => {
    const [till, stock] = ['till', 'stock'].map((name) => new Mutex({ name, diagnostics }))
    async function sell() {
      const release = await till.acquire()
      await stock.runExclusive(() => {})
      release()
    }
    const refill = () => stock.runExclusive(() => till.runExclusive(() => {}))
    await sell()
    await refill()
    const { name, message, detail } = await nextWarning(code)
    assert.equal(name, 'BoxofficeWarning')
    assert.match(message, /^the mutex "stock" and the mutex "till" are acquired inside each other/)
    const [second, first] = detail.split(/\n(?=The)/)
    assert.match(second, /acquired the mutex "stock"\n +at refill /)
    assert.match(
      first,
      /acquired the mutex "till"\n +at sell .*\n(?:.*\n)*.*inside it the mutex "stock"\n +at sell /,
    )
  })

  it('is reported when three locks form a circle', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map(
      (name) => new Mutex({ name: `circle ${name}`, diagnostics }),
    )
    const pair = (one, other) => one.runExclusive(() => other.runExclusive(() => {}))
    const warnings = await told(async () => {
      await pair(a, b)
      await pair(b, c)
      await pair(c, a)
    })
    assert.deepEqual(
      warnings.map(({ message }) => message.split(':')[0]),
      [
        'the mutex "circle c", the mutex "circle a" and the mutex "circle b" are acquired inside each other, in a circle',
      ],
    )
    assert.equal(warnings[0].detail.match(/^The main thread/gm).length, 3)
  })

  it('is reported when the inner lock is queued for, before a deadlock is looked for', async () => {
    const [a, b] = [new Mutex({ diagnostics }), new Mutex({ diagnostics })]
    const codeOf = (promise) =>
      promise.then(
        () => 'fine',
        (error) => error.code,
      )
    const both = (one, other) =>
      one.runExclusive(() => sleep(2).then(() => other.runExclusive(() => 'both')))
    const warnings = await told(async () => {
      const codes = await Promise.all([codeOf(both(a, b)), codeOf(both(b, a))])
      assert.deepEqual(codes.sort(), ['ERR_LOCK_DEADLOCK', 'fine'])
    })
    assert.equal(warnings.length, 1)
  })

  it('takes locks that one line makes without a name for one', async () => {
    const accounts = Array.from({ length: 2 }, () => new Mutex({ diagnostics }))
    const log = new Mutex({ diagnostics })
    const warnings = await told(async () => {
      await accounts[0].runExclusive(() => accounts[1].runExclusive(() => {}))
      await accounts[1].runExclusive(() => accounts[0].runExclusive(() => {}))
      await accounts[0].runExclusive(() => log.runExclusive(() => {}))
      await log.runExclusive(() => accounts[1].runExclusive(() => {}))
    })
    assert.equal(warnings.length, 1)
    assert.match(warnings[0].message, /the mutex made at .*lock_order\.test\.js/)
  })

  describe('is not told of', () => {
    let a
    let b
    const run = (lock, inside, ...options) => lock.runExclusive(inside, ...options)
    const nothing = async (work) => assert.deepEqual(await told(work), [])
    beforeEach(async () => {
      const make = () => new Mutex({ name: freshName(), diagnostics })
      ;[a, b] = [make(), make()]
      await run(a, () => run(b, () => {}))
    })

    const others = {
      'when all callers agree': () => run(a, () => run(b, () => {})),
      'when the outer lock has been released': async () => {
        const release = await b.acquire()
        release()
        await run(a, () => {})
      },
      'between callers that run beside each other': () =>
        Promise.all([run(b, () => turn()), run(a, () => turn()), run(b, () => turn())]),
      'for a caller with ifAvailable': () => run(b, () => run(a, () => {}, { ifAvailable: true })),
      'for tryRunExclusive()': () => run(b, () => a.tryRunExclusive(() => {})),
      'for a caller with a timeout of 0': () =>
        run(b, () => a.acquire({ timeout: 0 }).then((release) => release())),
      'for tryAcquire()': () => run(b, () => a.tryAcquire()()),
      'for tryLock()': () => run(b, () => a.tryLock() && a.unlock()),
      'for waitForUnlock()': () => run(b, () => a.waitForUnlock()),
    }
    for (const [when, work] of Object.entries(others)) it(when, () => nothing(work))

    it('for tries of a semaphore and of a read-write lock', async () => {
      const semaphore = new Semaphore(2, { diagnostics })
      const shared = new Semaphore(2, { name: freshName(), diagnostics })
      const lock = new RWLock({ diagnostics })
      await run(semaphore, () => run(shared, () => lock.runExclusive(() => run(a, () => {}))))
      const now = { ifAvailable: true }
      await nothing(() =>
        run(a, async () => {
          for (const each of [semaphore, shared]) {
            const [, release] = await each.acquire(now)
            release()
          }
          const read = await lock.acquireRead(now)
          read()
        }),
      )
    })

    // An async function that acquires for its caller: whose promise the hold goes to must not be guessed.
    const using = async (lock, inside) => {
      const release = await (async () => lock.acquire())()
      try {
        return await inside()
      } finally {
        release()
      }
    }
    const siblings = {
      'of one thread': () => [Mutex, { diagnostics }, using],
      'of threads': () => [Mutex, { name: freshName(), diagnostics }, using],
      'of recursive mutexes': () => [RecursiveMutex, { name: freshName(), diagnostics }, run],
      'over an engine': async () => [Mutex, { engine: await newEngine(), diagnostics }, run],
    }
    for (const [which, make] of Object.entries(siblings)) {
      it(`between callers that one function has started beside each other: ${which}`, async () => {
        const [Lock, options, take] = await make()
        const [one, two, three] = ['a', 'b', 'c'].map(
          (letter) => new Lock({ ...options, name: `${options.name} ${letter}` }),
        )
        await nothing(async () => {
          await take(two, () => take(three, () => {}))
          const late = async () => {
            await turn()
            await take(one, async () => {
              await turn()
              await take(two, () => take(three, () => {}))
            })
          }
          await Promise.all([take(three, turn), late(), take(three, turn)])
          await Promise.all([
            take(three, () => turn().then(turn)),
            take(one, () => take(two, turn)),
          ])
        })
      })
    }

    // The function that acquires might have settled the slow promise, and so given it the hold, for all that diagnostics see.
    it('for a caller that awaits, by another function, what was made beside an acquire', () =>
      nothing(async () => {
        const slow = (async () => {
          for (let i = 0; i < 8; i++) await null
        })()
        const acquired = (async () => {
          await b.lock()
        })()
        const between = (async () => {
          await slow
        })()
        const later = (async () => {
          await between
          await run(a, turn)
        })()
        await acquired
        await turn()
        b.unlock()
        await later
      }))

    it('for names that differ only in what no UTF-8 can say', async () => {
      const [one, two] = ['\ud800', '\ud801'].map((name) => new Mutex({ name, diagnostics }))
      await nothing(() => run(one, () => run(a, () => run(two, () => {}))))
    })

    it('for a caller with maxPending: 0', () =>
      nothing(() => run(b, () => run(a, () => {}, { maxPending: 0 }))))

    it('for keys of one keyed lock', async () => {
      const keys = new KeyedMutex({ diagnostics })
      await nothing(async () => {
        await keys.runExclusive('one', () => keys.runExclusive('other', () => {}))
        await keys.runExclusive('other', () => keys.runExclusive('one', () => {}))
      })
    })

    it('for locks whose diagnostics do not ask for it', async () => {
      const plain = new Mutex({ name: freshName(), diagnostics: true })
      await nothing(() =>
        inBothOrders(
          (inside) => run(plain, inside),
          (inside) => run(a, inside),
        ),
      )
      const asked = new Mutex({ name: freshName(), diagnostics: { order: false } })
      await nothing(() =>
        inBothOrders(
          (inside) => run(asked, inside),
          (inside) => run(a, inside),
        ),
      )
      assert.equal(typeof asked.snapshot().totals.acquisitions, 'number')
    })
  })

  const arounds = {
    'which detects no deadlocks': (work) => work(),
    'inside another lock': (work) => new Mutex({ diagnostics: true }).runExclusive(work),
  }
  for (const [where, around] of Object.entries(arounds)) {
    it(`is watched over an engine, ${where}`, async () => {
      const engine = await newEngine()
      const [a, b] = ['one', 'other'].map(
        (name) => new Mutex({ engine, name: `${name} of an engine, ${where}`, diagnostics }),
      )
      const both = () =>
        inBothOrders(
          (inside) => a.runExclusive(inside),
          (inside) => b.runExclusive(inside),
        )
      const warnings = await told(() => around(both))
      assert.equal(warnings.length, 1)
      assert.match(warnings[0].message, /"other of an engine, .*" and the mutex "one of an engine/)
    })
  }

  it('of an engine is not reported, for a caller beside one that holds both in that order', async () => {
    const engine = await newEngine()
    const [a, b] = ['outer', 'inner'].map(
      (name) => new Mutex({ engine, name: `${name} of siblings`, diagnostics }),
    )
    const nothing = async () => {}
    const inOrder = async () => {
      await a.runExclusive(nothing)
      await a.runExclusive(() => b.runExclusive(nothing))
    }
    const warnings = await told(() => Promise.all([b.runExclusive(turn), inOrder()]))
    assert.deepEqual(warnings, [])
  })

  it('takes locks that an inherited method makes for one', async () => {
    class Base {
      make() {
        return new Mutex({ diagnostics })
      }
    }
    class One extends Base {}
    class Other extends Base {}
    const [one, other] = [new One(), new Other()].map((each) => each.make())
    const take = (lock) => (inside) => lock.runExclusive(inside)
    assert.deepEqual(await told(() => inBothOrders(take(one), take(other))), [])
  })

  it('is no activity of the caller: its deadlock is found, though nothing else keeps the process', async () => {
    const program = `
      const diagnostics = { order: true }
      const [a, b] = ['a', 'b'].map((name) => new Mutex({ name, diagnostics }))
      const both = (one, other) =>
        one.runExclusive(async () => { await turn(); await other.runExclusive(() => {}) })
      const all = await Promise.allSettled([both(a, b), both(b, a)])
      for (const { reason } of all) show(reason?.code ?? 'fine')`
    const { shown } = await runCode(program)
    assert.deepEqual(shown.toSorted(), ['ERR_LOCK_DEADLOCK', 'fine'])
  })

  it('survives a subscriber that releases what a blocking call has got', async () => {
    const options = { name: freshName(), diagnostics, allowBlockingMainThread: true }
    const semaphore = new Semaphore(2, options)
    const admits = channel('boxoffice:admit')
    const onAdmit = () => semaphore.release(1)
    admits.subscribe(onAdmit)
    try {
      const failures = await warningsOf('BOXOFFICE_DIAGNOSTICS_FAILED', () =>
        semaphore.acquireSync(),
      )
      assert.deepEqual(failures, [])
    } finally {
      admits.unsubscribe(onAdmit)
    }
  })

  it('refuses other options, and values that are no boolean', () => {
    assert.throws(
      () => new Mutex({ diagnostics: { order: 'a, b' } }),
      /TypeError: order must be a boolean/,
    )
    assert.throws(
      () => new Mutex({ diagnostics: { ordre: true } }),
      /unknown option "ordre": did you mean order\?/,
    )
    assert.throws(
      () => new Mutex({ diagnostics: 'order' }),
      /diagnostics must be a boolean, 'counters' or/,
    )
  })

  it('is watched for all locks by BOXOFFICE_DIAGNOSTICS=order', async () => {
    const program = `
      const [a, b] = [new Mutex(), new Mutex({ name: 'b' })]
      process.on('warning', ({ code }) => show(code))
      await a.runExclusive(() => b.runExclusive(() => {}))
      await b.runExclusive(() => a.runExclusive(() => {}))`
    const { shown } = await runCode(program, { BOXOFFICE_DIAGNOSTICS: 'order' })
    assert.deepEqual(shown, [code])
  })
})

describe('The order of locks of threads', function () {
  this.timeout(60_000)
  useWarnings(code)
  const startAgent = useAgents()
  const locks = `my.locks = workerData.map((name) => new Mutex({ name, diagnostics: { order: true } }));`

  it('is reported when two threads differ', async () => {
    const names = [freshName(), freshName()]
    const agent = startAgent(names)
    await agent.does(
      `${locks} await my.locks[1].runExclusive(() => my.locks[0].runExclusive(() => {}))`,
    )
    const [a, b] = names.map((name) => new Mutex({ name, diagnostics }))
    const warnings = await told(() => a.runExclusive(() => b.runExclusive(() => {})))
    assert.equal(warnings.length, 1)
    assert.match(warnings[0].detail, new RegExp(`^Thread ${agent.worker.threadId} acquired`, 'm'))
  })

  for (const [how, [take, free]] of Object.entries({
    'lockSync()': ['lockSync()', 'unlock()'],
    'acquireReadSync()': ['acquireReadSync()', 'release()'],
    'acquireWriteSync()': ['acquireWriteSync()', 'release()'],
    'acquireSync() of a semaphore': ['acquireSync()', 'release()'],
  })) {
    it(`is reported for blocking calls that need not wait: ${how}`, async () => {
      const names = [freshName(), freshName()]
      const agent = startAgent(names)
      const Kind = how.includes('Sync() of')
        ? 'Semaphore(2, '
        : how.startsWith('lock')
          ? 'Mutex('
          : 'RWLock('
      const count = await agent.does(`
        const codes = []
        process.removeAllListeners('warning')
        process.on('warning', ({ code }) => codes.push(code))
        const [a, b] = workerData.map((name) => new boxoffice.${Kind}{ name, diagnostics: { order: true } }))
        for (const [one, other] of [[a, b], [b, a]]) {
          const outer = one.${take}, inner = other.${take}
          for (const each of [inner, outer]) typeof each === 'function' ? each() : each?.[1]()
          ${how === 'lockSync()' ? 'other.unlock(); one.unlock()' : ''}
        }
        await new Promise(setImmediate)
        return codes`)
      assert.deepEqual(count, [code], `${take} ${free}`)
    })
  }
})

describe('The cost of the order of locks', () => {
  it('has the text of a class made once, not for each outer hold of each lock', async () => {
    const { stringify } = JSON
    const rows = new KeyedMutex({ name: freshName(), diagnostics })
    const many = 300
    let made = 0
    JSON.stringify = (...args) => {
      made++
      return stringify(...args)
    }
    try {
      const releases = []
      for (let key = 0; key < many; key++) releases.push(await rows.acquire(key))
      for (const release of releases) release()
    } finally {
      JSON.stringify = stringify
    }
    assert.ok(made <= many, `${made} texts`)
  })
})
