'use strict'
// Deadlocks of locks with full diagnostics: each is found by the wait that closes it, and only
// deadlocks are found.
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const { KeyedMutex, Mutex, RecursiveMutex, RWLock, Semaphore } = require('../..')
const { deadlocks } = require('../../lib/diagnostics/deadlock.js')
const { sleep, within } = require('../helpers/agents.js')

const diagnostics = true
const codeOf = (promise) =>
  promise.then(
    () => 'fine',
    ({ code }) => code,
  )
const turn = () => new Promise(setImmediate)

/** The outcome of `promise`, which stays pending if a deadlock is not found. */
const ended = (promise) => within(5000, promise)

// The ways to hold a mutex while other code runs.
const ways = {
  'acquire()': async (mutex, inside) => {
    const release = await mutex.acquire()
    try {
      return await inside()
    } finally {
      release()
    }
  },
  'acquire() with a timeout': async (mutex, inside) => {
    const release = await mutex.acquire({ timeout: 60_000 })
    return Promise.resolve(inside()).finally(release)
  },
  'lock()': async (mutex, inside) => {
    await mutex.lock()
    try {
      return await inside()
    } finally {
      mutex.unlock()
    }
  },
  'runExclusive()': (mutex, inside) => mutex.runExclusive(inside),
  'a chain of then()': (mutex, inside) =>
    mutex.acquire().then((release) => Promise.resolve(inside()).finally(release)),
  'a function that acquires': async (mutex, inside) => {
    const take = async () => {
      await null
      return mutex.acquire().then((release) => release)
    }
    const takeIt = async () => take()
    const release = await takeIt()
    try {
      return await inside()
    } finally {
      release()
    }
  },
  'all of several promises': async (mutex, inside) => {
    const [release] = await Promise.all([mutex.acquire(), sleep(1)])
    try {
      const [outcome] = await Promise.all([inside(), turn()])
      return outcome
    } finally {
      release()
    }
  },
}

describe('Deadlocks of promises', () => {
  for (const [way, hold] of Object.entries(ways)) {
    it(`are found between two mutexes: ${way}`, async () => {
      const a = new Mutex({ diagnostics })
      const b = new Mutex({ diagnostics })
      const both = (one, other) => hold(one, () => sleep(2).then(() => hold(other, () => 'both')))
      const codes = await ended(Promise.all([codeOf(both(a, b)), codeOf(both(b, a))]))
      assert.deepEqual(codes.sort(), ['ERR_LOCK_DEADLOCK', 'fine'])
      assert.equal(a.isLocked() || b.isLocked(), false)
    })

    it(`are found when a chain of calls waits for itself: ${way}`, async () => {
      const mutex = new Mutex({ diagnostics })
      const deeper = async () => hold(mutex, () => {})
      const code = await ended(codeOf(hold(mutex, async () => await deeper())))
      assert.equal(code, 'ERR_LOCK_DEADLOCK')
      assert.equal(await ended(hold(mutex, () => 'again')), 'again')
    })
  }

  for (const [how, hold] of Object.entries({
    'a function that acquires': async (mutex, inside) => {
      const take = async () => await mutex.acquire()
      const release = await take()
      try {
        return await inside()
      } finally {
        release()
      }
    },
    'a recursive mutex': (mutex, inside) => mutex.runExclusive(inside),
  })) {
    it(`are found in functions that return what was called while nothing was held: ${how}`, async () => {
      const Kind = how === 'a recursive mutex' ? RecursiveMutex : Mutex
      const a = new Kind({ diagnostics })
      const b = new Kind({ diagnostics })
      const both = async (one, other) => hold(one, () => hold(other, () => 'both'))
      const codes = await ended(Promise.all([codeOf(both(a, b)), codeOf(both(b, a))]))
      assert.deepEqual(codes.sort(), ['ERR_LOCK_DEADLOCK', 'fine'])
    })
  }

  it('are found inside the hold of a lock with warnAfter', async () => {
    const outer = new Mutex({ diagnostics })
    const inner = new Mutex({ diagnostics, warnAfter: 60_000 })
    const holdBoth = outer.runExclusive(() => inner.runExclusive(() => outer.acquire()))
    assert.equal(await ended(codeOf(holdBoth)), 'ERR_LOCK_DEADLOCK')
  })

  for (const many of [3, 30]) {
    it(`are found after a call of ${many} functions, which return promises of locks or of other functions`, async () => {
      const mutex = new Mutex({ diagnostics })
      const places = new Semaphore(many, { diagnostics })
      const jobs = Array.from(
        { length: many },
        (_, i) => async () => (i % 2 ? turn() : places.runExclusive(turn)),
      )
      const caller = async () => {
        await Promise.all(jobs.map((job) => job()))
        await mutex.runExclusive(() => {})
      }
      assert.equal(await ended(codeOf(mutex.runExclusive(caller))), 'ERR_LOCK_DEADLOCK')
    })
  }

  it('are found beside promises that have settled already', async () => {
    const mutex = new Mutex({ diagnostics })
    const caller = async () => {
      const ready = Array.from({ length: 30 }, (_, i) => Promise.resolve(i))
      await mutex.runExclusive(() => {})
      return ready
    }
    assert.equal(await ended(codeOf(mutex.runExclusive(() => caller()))), 'ERR_LOCK_DEADLOCK')
  })

  it('are found among five philosophers, by the last one', async () => {
    const forks = Array.from({ length: 5 }, () => new Mutex({ diagnostics }))
    const refused = []
    const dine = (i) => async () => {
      await turn()
      await forks[(i + 1) % 5].runExclusive(() => {}).catch((error) => refused.push(error))
    }
    await ended(Promise.all(forks.map((fork, i) => fork.runExclusive(dine(i)))))
    assert.deepEqual(
      refused.map(({ code, cycle }) => [code, cycle.length]),
      [['ERR_LOCK_DEADLOCK', 5]],
    )
  })

  it('are found among readers and writers', async () => {
    const lock = new RWLock({ diagnostics })
    const becomes = lock.runShared(() => lock.runExclusive(() => {}))
    assert.equal(await ended(codeOf(becomes)), 'ERR_LOCK_DEADLOCK')
    const writes = lock.runExclusive(() => lock.runShared(() => {}))
    assert.equal(await ended(codeOf(writes)), 'ERR_LOCK_DEADLOCK')
    assert.equal(await ended(lock.runShared(() => lock.runShared(() => 'in'))), 'in')
  })

  it('are found when a reader is queued behind a writer that waits for it', async () => {
    const lock = new RWLock({ diagnostics })
    let writer
    const reads = lock.runShared(async () => {
      writer = Promise.resolve().then(() => lock.runExclusive(() => 'written'))
      await turn()
      await lock.runShared(() => {})
    })
    assert.equal(await ended(codeOf(reads)), 'ERR_LOCK_DEADLOCK')
    assert.equal(await ended(writer), 'written')
  })

  it('are found at semaphores, by weight', async () => {
    const semaphore = new Semaphore(3, { diagnostics })
    const nested = (outer, inner) =>
      ended(codeOf(semaphore.runExclusive(() => semaphore.runExclusive(() => {}, inner), outer)))
    assert.equal(await nested(1, 2), 'fine')
    assert.equal(await nested(2, 2), 'ERR_LOCK_DEADLOCK')
    assert.equal(semaphore.getValue(), 3)
  })

  it('are found between keys of all types, which the error names', async () => {
    const locks = new KeyedMutex({ diagnostics })
    const both = (one, other) =>
      locks.runExclusive(one, () => turn().then(() => locks.runExclusive(other, () => {})))
    for (const [one, other] of [
      ['a', 7],
      [7, 7n],
      [7n, '7'],
    ]) {
      const all = await ended(Promise.allSettled([both(one, other), both(other, one)]))
      const { reason } = all.find(({ status }) => status === 'rejected')
      const [{ waitsFor, holds }] = reason.cycle
      assert.deepEqual(new Set([waitsFor.key, holds[0].key]), new Set([one, other]))
    }
  })

  it('are found in chains that were pending while 30,000 other promises were made', async () => {
    const [a, b] = [1, 2].map(() => new Mutex({ diagnostics }))
    let go
    const gate = new Promise((resolve) => {
      go = resolve
    })
    const both = (one, other) =>
      one.runExclusive(async () => {
        await gate
        await other.runExclusive(() => {})
      })
    const codes = Promise.all([codeOf(both(a, b)), codeOf(both(b, a))])
    const never = new Promise(() => {})
    const others = Array.from({ length: 30_000 }, () => never.then())
    await turn()
    go()
    assert.deepEqual((await ended(codes)).sort(), ['ERR_LOCK_DEADLOCK', 'fine'])
    assert.equal(others.length, 30_000)
  })

  it('are found in a chain that holds 15,000 locks', async () => {
    const locks = new KeyedMutex({ diagnostics })
    const caller = async () => {
      const releases = []
      for (let i = 0; i < 15_000; i++) releases.push(await locks.acquire(i))
      const code = await codeOf(locks.acquire(7))
      for (const release of releases) release()
      return code
    }
    assert.equal(await within(20_000, caller()), 'ERR_LOCK_DEADLOCK')
  }).timeout(30_000)

  it('count a caller that waits for itself as one waiter', async () => {
    const mutex = new Mutex({ diagnostics })
    const entered = mutex.runExclusive(() => mutex.acquire())
    await assert.rejects(entered, ({ message }) => message.includes('deadlock of 1 waiter\n'))
  })

  it('are found in code that eval() has made', async () => {
    const body = 'return mutex.runExclusive(async () => { await inside() })'
    const hold = new Function('mutex', 'inside', body)
    const [a, b] = [new Mutex({ diagnostics }), new Mutex({ diagnostics })]
    const chains = [
      hold(a, async () => {
        await turn()
        return b.runExclusive(() => {})
      }),
      hold(b, async () => {
        await turn()
        return a.runExclusive(() => {})
      }),
    ]
    const codes = await ended(Promise.all(chains.map(codeOf)))
    assert.deepEqual(codes.sort(), ['ERR_LOCK_DEADLOCK', 'fine'])
  })

  it('say where locks without a name were made', async () => {
    const mutex = (function makesOne() {
      return new Mutex({ diagnostics })
    })()
    const keyed = (function makesMap() {
      return new KeyedMutex({ diagnostics })
    })()
    const [first, second] = await ended(
      Promise.allSettled([
        mutex.runExclusive(async () => {
          await turn()
          await keyed.runExclusive('ada', () => {})
        }),
        keyed.runExclusive('ada', async () => {
          await turn()
          await mutex.runExclusive(() => {})
        }),
      ]),
    )
    const { message } = first.reason ?? second.reason
    assert.match(message, /waits for the mutex made at makesOne \(.*deadlocks\.test\.js/)
    assert.match(message, /holds the mutex of key "ada" made at makesMap \(.*\), acquired\n/)
  })

  it('are described with locks and where they were acquired', async () => {
    const a = new Mutex({ name: 'deadlock a', diagnostics })
    const b = new Mutex({ name: 'deadlock b', diagnostics })
    const failed = async function takesBoth(one, other) {
      await one.runExclusive(async () => {
        await turn()
        await other.runExclusive(() => {})
      })
    }
    const before = deadlocks().length
    const outcomes = await ended(Promise.allSettled([failed(a, b), failed(b, a)]))
    const { reason } = outcomes.find(({ status }) => status === 'rejected')
    assert.match(reason.message, /^the mutex "deadlock [ab]" not acquired: deadlock of 2 waiters\n/)
    assert.match(reason.message, /main thread waits for the mutex "deadlock a"\n +at .*deadlocks/)
    assert.match(reason.message, /while it holds the mutex "deadlock b", acquired\n +at takesBoth/)
    const [{ thread, waitsFor, holds }] = reason.cycle
    assert.equal(thread, 0)
    assert.equal(waitsFor.kind, 'Mutex')
    assert.notEqual(waitsFor.name, holds[0].name)
    assert.match(holds[0].stack, /takesBoth/)
    const [latest] = deadlocks().slice(-1)
    assert.deepEqual(latest.cycle, reason.cycle)
    assert.ok(deadlocks().length === before + 1 || before === 16)
  })
})

describe('No deadlock', () => {
  it('is reported for a wait that only an unawaited reaction waits for', async () => {
    const mutex = new Mutex({ diagnostics })
    let next
    await mutex.runExclusive(async () => {
      next = mutex.runExclusive(() => 'next')
      await sleep(3)
    })
    assert.equal(await ended(next), 'next')
  })

  describe('is reported for a follow-up whose holder waits for an external event', () => {
    const outside = new EventEmitter()
    let timer
    before(() => {
      timer = setInterval(() => outside.emit('event'), 20)
    })
    after(() => clearInterval(timer))

    for (const [how, heard] of Object.entries({
      'a promise by hand': () => new Promise((resolve) => outside.once('event', resolve)),
      'once()': () => once(outside, 'event'),
      'a function': async () => await once(outside, 'event'),
    })) {
      it(`by ${how}`, async () => {
        const mutex = new Mutex({ diagnostics })
        let next
        await mutex.runExclusive(async () => {
          const event = heard()
          next = mutex.runExclusive(() => 'next')
          await event
        })
        assert.equal(await ended(next), 'next')
      })

      it(`by ${how}, begun before the lock was requested`, async () => {
        const mutex = new Mutex({ diagnostics })
        const event = heard()
        const release = await mutex.acquire()
        const next = mutex.runExclusive(() => 'next')
        await event
        release()
        assert.equal(await ended(next), 'next')
      })

      it(`by ${how}, or for the follow-up`, async () => {
        const mutex = new Mutex({ diagnostics })
        const release = await mutex.acquire()
        const event = heard()
        const next = mutex.acquire()
        await Promise.race([event, next])
        release()
        const again = await ended(next)
        again()
      })
    }
  })

  // Each makes a promise that nothing in the chain settles.
  for (const [what, make] of Object.entries({
    'a word in shared memory': () => {
      const word = new Int32Array(new SharedArrayBuffer(4))
      const begin = () => Atomics.waitAsync(word, 0, 0).value
      return { begin, end: () => Atomics.notify(word, 0) }
    },
    'an async generator that works for another caller': () => {
      let end
      const outside = new Promise((resolve) => {
        end = resolve
      })
      const items = (async function* () {
        yield await outside
        yield 'more'
      })()
      items.next()
      return { begin: () => items.next(), end }
    },
  })) {
    it(`is reported while one chain waits for ${what}, too`, async () => {
      const { begin, end } = make()
      const [a, b] = [new Mutex({ diagnostics }), new Mutex({ diagnostics })]
      let later
      const first = a.runExclusive(async () => {
        await turn()
        const waiting = begin()
        later = codeOf(b.runExclusive(() => {}))
        await waiting
      })
      const second = b.runExclusive(async () => {
        await turn()
        await turn()
        await a.runExclusive(() => {})
      })
      for (let i = 0; i < 10; i++) await turn()
      end()
      assert.equal(await ended(codeOf(second)), 'fine')
      await ended(first)
      assert.equal(await ended(later), 'fine')
    })
  }

  it('is reported for a lock requested before the other is released', async () => {
    const mutex = new Mutex({ diagnostics })
    const release = await mutex.acquire()
    const next = mutex.acquire()
    release()
    const again = await ended(next)
    again()
  })

  for (const [how, job] of Object.entries({
    promises: (release) => sleep(1).then(turn).finally(release),
    functions: async (release) => {
      await sleep(1)
      await turn()
      release()
    },
    callbacks: (release) => setTimeout(release, 1),
  })) {
    it(`is reported for a limit of jobs that run at once, and release: ${how}`, async () => {
      const semaphore = new Semaphore(2, { diagnostics })
      const mutex = new Mutex({ diagnostics })
      for (let i = 0; i < 8; i++) {
        const [, release] = await ended(semaphore.acquire())
        job(release)
        job(await ended(mutex.acquire()))
      }
    })
  }

  it('is reported for a semaphore that is released without releasers', async () => {
    const semaphore = new Semaphore(1, { diagnostics })
    const inside = semaphore.runExclusive(() => {
      const next = semaphore.acquire()
      setImmediate(() => setImmediate(() => semaphore.release()))
      return next
    })
    await ended(inside)
  })

  it('is reported for a lock acquired again after its release', async () => {
    const a = new Mutex({ diagnostics })
    const b = new Mutex({ diagnostics })
    const inTurn = async (one, other) => {
      for (let i = 0; i < 20; i++) {
        await one.runExclusive(turn)
        await other.runExclusive(turn)
      }
    }
    await ended(Promise.all([inTurn(a, b), inTurn(b, a), inTurn(a, b)]))
  })

  it("is reported between siblings, which do not have each other's locks", async () => {
    const [a, b, c] = [1, 2, 3].map(() => new Mutex({ diagnostics }))
    await ended(
      a.runExclusive(() =>
        Promise.all([
          b.runExclusive(() => sleep(2)),
          c
            .runExclusive(async () => {
              await turn()
              await b.runExclusive(() => {})
            })
            .catch(assert.ifError),
        ]),
      ),
    )
  })
})
