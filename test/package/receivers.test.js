'use strict'
// Methods and getters of a class refuse a `this` of another class.
const assert = require('node:assert/strict')
const boxoffice = require('../..')

const options = { allowBlockingMainThread: true }
const instances = {
  AutoResetEvent: new boxoffice.AutoResetEvent(options),
  Barrier: new boxoffice.Barrier(2, options),
  ConditionVariable: new boxoffice.ConditionVariable(options),
  CountdownLatch: new boxoffice.CountdownLatch(1, options),
  DiningPhilosophers: new boxoffice.DiningPhilosophers(2, options),
  KeyedMutex: new boxoffice.KeyedMutex(options),
  KeyedRWLock: new boxoffice.KeyedRWLock(options),
  KeyedSemaphore: new boxoffice.KeyedSemaphore(1, options),
  LeaderElection: new boxoffice.LeaderElection({ scope: 'process', name: 'receivers' }),
  LockManager: new boxoffice.LockManager(),
  ManualResetEvent: new boxoffice.ManualResetEvent(options),
  Mutex: new boxoffice.Mutex(options),
  RecursiveMutex: new boxoffice.RecursiveMutex(options),
  RWLock: new boxoffice.RWLock(options),
  Semaphore: new boxoffice.Semaphore(1, options),
  SingleFlight: new boxoffice.SingleFlight(),
}

/** The arguments of methods, by class; others take the default. */
const key = ['a', () => {}]
const argumentsOf = {
  ConditionVariable: [instances.Mutex],
  CountdownLatch: [1],
  DiningPhilosophers: [0, () => {}],
  KeyedMutex: key,
  KeyedRWLock: key,
  KeyedSemaphore: key,
  LockManager: ['a', () => {}],
  SingleFlight: key,
}
const given = (name, method) => {
  if (name in argumentsOf) return argumentsOf[name]
  return /^(run|execute|tryRun)/.test(method) ? [() => {}] : []
}

const isClass = (value) => typeof value === 'function' && /^class\b/.test(String(value))

/** [name, value or getter, its owner] of every member that a class has or inherits. */
function* membersOf(Class) {
  const seen = new Set(['constructor'])
  for (let at = Class.prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (seen.has(name)) continue
      seen.add(name)
      yield [name, value ?? get, at.constructor]
    }
  }
}

/** The error that a call throws or rejects with. */
async function thrownBy(member, receiver, args) {
  try {
    await member.apply(receiver, args)
  } catch (error) {
    return error
  }
  return undefined
}

describe('A method or getter on an object of another class', () => {
  const classes = Object.entries(boxoffice).filter(([, value]) => isClass(value))

  it('is tested for every exported class', () => {
    const names = classes.map(([name]) => name)
    assert.deepEqual(names.sort(), ['Lock', ...Object.keys(instances)].sort())
  })

  for (const [name, Class] of classes) {
    it(`throws a TypeError that names both: ${name}`, async () => {
      const proxy = name in instances ? new Proxy(instances[name], {}) : {}
      const like = Object.create(Class.prototype)
      const strangers = [undefined, null, 1, 'text', {}, () => {}, Class, like, proxy]
      for (const [member, call, Owner] of membersOf(Class)) {
        const others = Object.values(instances).filter((one) => !(one instanceof Owner))
        const arrays = name.startsWith('Keyed') ? [[['a', 'b'], () => {}]] : []
        for (const args of [given(name, member), ...arrays]) {
          for (const receiver of [...strangers, ...others]) {
            const error = await thrownBy(call, receiver, args)
            assert.equal(error?.constructor, TypeError, `${member}: ${error?.stack}`)
            const start = `${Owner.name}.prototype.${member} called on `
            assert.ok(error.message.startsWith(start), `${start}: ${error.message}`)
          }
        }
      }
      for (const one of Object.values(instances)) assert.ok(!one.isLocked?.('a'), 'it was locked')
    })
  }

  it('throws a TypeError also at the end of `await using`', async () => {
    const dispose = boxoffice.LeaderElection.prototype[Symbol.asyncDispose]
    for (const receiver of [undefined, {}, { close: assert.fail }, instances.Mutex]) {
      const error = await thrownBy(dispose, receiver, [])
      assert.equal(error.constructor, TypeError)
      assert.match(error.message, /^LeaderElection\.prototype\.close called on /)
    }
  })

  it('throws a TypeError also for the methods of releasers', async () => {
    for (const shared of [false, true]) {
      const lock = new boxoffice.RWLock({ ...options, shared })
      const reader = lock.acquireReadSync()
      reader()
      const { downgrade } = lock.acquireWriteSync()
      const { upgrade, tryUpgrade, upgradeSync } = reader
      const methods = { upgrade, tryUpgrade, upgradeSync, downgrade }
      for (const [name, method] of Object.entries(methods)) {
        for (const receiver of [undefined, null, 1, {}, () => {}, instances.Mutex]) {
          const error = await thrownBy(method, receiver, [])
          assert.equal(error?.constructor, TypeError)
          assert.match(error.message, new RegExp(`^Releaser\\.prototype\\.${name} called on `))
        }
      }
    }
  })

  it('names the receiver, and what to do', () => {
    const { acquire } = boxoffice.Mutex.prototype
    const end = 'call it as a method of a Mutex; to pass it on, wrap it in an arrow function'
    const found = [
      [undefined, 'undefined'],
      [{ of: 'mine' }, '[Object]'],
      [instances.Semaphore, 'a Semaphore'],
      [new (class Mine extends boxoffice.RWLock {})(), 'an RWLock'],
      [new Proxy(instances.Mutex, {}), 'a Proxy'],
    ]
    for (const [receiver, what] of found) {
      const message = `Mutex.prototype.acquire called on ${what}: ${end}`
      assert.throws(() => acquire.call(receiver), { name: 'TypeError', message })
    }
    const { wait } = boxoffice.Barrier.prototype
    assert.throws(() => wait.call(instances.Mutex), {
      message:
        /^Gate\.prototype\.wait called on a Mutex: call it as a method of an event, a countdown latch or a barrier;/,
    })
  })

  it('does not affect derived classes and methods of a common base', async () => {
    class Mine extends boxoffice.Mutex {
      acquire(...limits) {
        return super.acquire(...limits)
      }
    }
    const mine = new Mine()
    const release = await mine.acquire()
    assert.equal(boxoffice.Mutex.prototype.isLocked.call(mine), true)
    release()
    assert.equal(boxoffice.AutoResetEvent.prototype.isSet.call(instances.ManualResetEvent), false)
  })
})
