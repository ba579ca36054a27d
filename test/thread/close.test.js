'use strict'
// close() and onIdle().
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { freshName } = require('../helpers/agents.js')
const { closables, isPending } = require('../helpers/closable.js')

const { ConditionVariable, KeyedMutex, KeyedSemaphore, Mutex } = boxoffice
const { RecursiveMutex, RWLock, Semaphore } = boxoffice

const closed = { code: 'ERR_LOCK_CLOSED' }
const blocking = { allowBlockingMainThread: true }

/** Checks that every acquiring method is refused. */
async function assertClosed({ title, waits, blocks }) {
  const isRefused = ({ code, message }) => {
    assert.equal(code, 'ERR_LOCK_CLOSED')
    assert.ok(message.startsWith(title), message)
    assert.match(message, /has been closed: construct another one/)
    return true
  }
  for (const [method, wait] of Object.entries(waits)) {
    await assert.rejects(wait(), isRefused, method)
  }
  for (const [method, block] of Object.entries(blocks)) assert.throws(block, isRefused, method)
}

const scopes = {
  'of one thread': () => blocking,
  'that threads share': () => ({ ...blocking, name: freshName('close') }),
}

for (const [scope, options] of Object.entries(scopes)) {
  const isShared = options().name !== undefined

  for (const [name, make] of Object.entries(closables)) {
    describe(`close() of a ${name} ${scope}`, () => {
      it('refuses every caller from then on, though the lock is free', async () => {
        const made = make(options())
        await made.lock.close()
        await assertClosed(made)
      })

      it('resolves when the last caller that waited before has released', async () => {
        const made = make(options())
        const { hold, wait = hold } = made
        const release = await hold()
        const waiting = wait()
        const closing = made.lock.close()
        await assertClosed(made)
        await release()
        const next = await waiting
        assert.ok(await isPending(closing))
        await next()
        await closing
        await assertClosed(made)
      })

      it('lets the only object of a held lock release it', async () => {
        const made = make(options())
        const release = await made.hold()
        const closing = made.lock.close()
        assert.ok(await isPending(closing))
        await release()
        await Promise.all([closing, made.lock.close(), made.lock.onIdle()])
      })

      it('leaves other methods as they are', async () => {
        const { lock, hold } = make(options())
        const release = await hold()
        lock.close()
        assert.equal(lock.isLocked('a'), true)
        lock.snapshot?.()
        await release()
        assert.equal(lock.isLocked('a'), false)
      })

      if (isShared) {
        it('leaves another object with the same lock open', async () => {
          const shared = options()
          const [made, other] = [make(shared), make(shared)]
          await made.lock.close()
          const release = await other.hold()
          await release()
          await other.lock.onIdle()
        })
      }

      it('resolves when waiters are cancelled and the holder has released', async () => {
        const { lock, hold, wait = hold } = make(options())
        const release = await hold()
        const waiting = wait()
        const closing = lock.close()
        lock.cancelAll?.()
        if (lock.cancelAll === undefined) lock.cancel()
        await assert.rejects(waiting, { code: 'ERR_LOCK_CANCELED' })
        assert.ok(await isPending(closing))
        await release()
        await closing
      })
    })

    describe(`onIdle() of a ${name} ${scope}`, () => {
      it('resolves at once if the lock is idle', async () => {
        const { lock } = make(options())
        await lock.onIdle()
      })

      it('resolves for each caller when nothing is held or waited for', async () => {
        const { lock, hold, wait = hold } = make(options())
        const release = await hold()
        const waiting = wait()
        const idle = [lock.onIdle(), lock.onIdle()]
        await release()
        const next = await waiting
        assert.ok(await isPending(Promise.race(idle)))
        await next()
        await Promise.all(idle)
      })

      it('resolves once for each idle period', async () => {
        const { lock, hold } = make(options())
        for (let time = 0; time < 3; time++) {
          const release = await hold()
          const idle = lock.onIdle()
          assert.ok(await isPending(idle))
          await release()
          await idle
        }
      })
    })
  }

  describe(`Locks ${scope} that close`, () => {
    it('serve lock() and unlock()', async () => {
      const mutex = new Mutex(options())
      await mutex.lock()
      const waiting = mutex.lock()
      const closing = mutex.close()
      mutex.unlock()
      await waiting
      assert.ok(await isPending(closing))
      mutex.release()
      await closing
      assert.throws(() => mutex.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
    })

    it('serve unlock(key) of a lock that was taken at once', async () => {
      const locks = new KeyedMutex(options())
      locks.tryLock('a')
      locks.tryLock('b')
      const closing = locks.close()
      locks.unlock('a')
      assert.ok(await isPending(closing))
      assert.equal(locks.isLocked('b'), true)
      locks.release('b')
      await closing
    })

    it('are idle once the last of very many keys is free', async () => {
      const locks = new KeyedMutex(options())
      const releases = []
      for (let key = 0; key < 700; key++) releases.push(locks.tryAcquire(key))
      const last = releases.splice(300, 1)[0]
      const idle = locks.onIdle()
      for (const release of releases) release()
      assert.ok(await isPending(idle))
      last()
      await idle
    })

    it('are idle when a waiter behind a free lock has timed out', async () => {
      const semaphore = new Semaphore(2, options())
      const [, release] = await semaphore.acquire()
      const waiting = semaphore.acquire(2, { timeout: 5 })
      const behind = semaphore.acquire({ timeout: 5 })
      const closing = semaphore.close()
      await assert.rejects(waiting, { code: 'ERR_LOCK_TIMEOUT' })
      const [, next] = await behind.catch(() => [undefined, () => {}])
      next()
      assert.ok(await isPending(closing))
      release()
      await closing
    })

    it('are idle when the waiter of an upgrade has been aborted and its reader has released', async () => {
      const lock = new RWLock(options())
      const [one, other] = [await lock.acquireRead(), await lock.acquireRead()]
      const controller = new AbortController()
      const upgrading = one.upgrade({ signal: controller.signal })
      const closing = lock.close()
      controller.abort()
      await assert.rejects(upgrading, { name: 'AbortError' })
      one()
      assert.ok(await isPending(closing))
      other()
      await closing
    })

    it('let a holder upgrade and downgrade', async () => {
      const lock = new RWLock(options())
      const reader = await lock.acquireRead()
      const closing = lock.close()
      const writer = await reader.upgrade()
      const again = writer.downgrade()
      assert.ok(await isPending(closing))
      again()
      await closing
    })

    it('let a callback enter a recursive mutex again that it holds', async () => {
      const mutex = new RecursiveMutex(options())
      let closing
      const inner = await mutex.runExclusive(async () => {
        closing = mutex.close()
        const result = await mutex.runExclusive(() => mutex.runExclusiveSync(() => 'in'))
        assert.ok(await isPending(closing))
        return result
      })
      assert.equal(inner, 'in')
      await closing
      await assert.rejects(
        mutex.runExclusive(() => {}),
        closed,
      )
    })

    it('count a caller that waits for a condition among the holders', async () => {
      const mutex = new Mutex(options())
      const condition = new ConditionVariable({ shared: isShared })
      let closing
      const running = mutex.runExclusive(async () => {
        closing = mutex.close()
        await condition.wait(mutex)
        await assert.rejects(condition.wait(mutex, { timeout: 1 }), { code: 'ERR_LOCK_TIMEOUT' })
        assert.equal(mutex.isLocked(), true)
      })
      await new Promise(setImmediate)
      assert.equal(mutex.isLocked(), false)
      assert.ok(await isPending(closing))
      assert.ok(await isPending(mutex.onIdle()))
      condition.notifyOne()
      await running
      await closing
    })

    it('count units that release() puts back as the units of a holder', async () => {
      const semaphore = new Semaphore(3, options())
      await semaphore.acquire(2)
      const [, release] = await semaphore.acquire()
      const closing = semaphore.close()
      semaphore.release(2)
      assert.ok(await isPending(closing))
      release()
      await closing
      semaphore.release(4) // Releases units that were never taken.
      await semaphore.onIdle()
    })

    it('count the holders of a semaphore independently of its value', async () => {
      const semaphore = new Semaphore(1, options())
      const [, release] = await semaphore.acquire()
      semaphore.setValue(5)
      const [, other] = await semaphore.acquire(2)
      const idle = semaphore.onIdle()
      release()
      assert.ok(await isPending(idle))
      other()
      await idle
      assert.equal(semaphore.getValue(), 6)
    })

    it('let a releaser put back more units than there were, as before', async () => {
      const semaphore = new Semaphore(1, options())
      const [, release] = await semaphore.acquire()
      const idle = semaphore.onIdle()
      semaphore.release()
      await idle
      release()
      assert.equal(semaphore.getValue(), 2)
      const [, next] = await semaphore.acquire()
      assert.ok(await isPending(semaphore.onIdle()))
      next()
      await semaphore.onIdle()
    })

    it('reject what map() has not begun, after the running jobs have ended', async () => {
      const semaphore = new Semaphore(1, options())
      const ran = []
      const mapped = semaphore.map([1, 2, 3], async (item, { signal }) => {
        ran.push(item)
        if (item === 1) semaphore.close()
        await new Promise(setImmediate)
        assert.equal(signal.reason, undefined)
      })
      await assert.rejects(mapped, closed)
      await semaphore.close()
      assert.ok(ran.length < 3)
    })

    it('serve a caller that already waits for several keys', async () => {
      const locks = new KeyedSemaphore(1, options())
      const [, release] = await locks.acquire('a')
      const both = locks.acquire(['a', 'b'])
      const closing = locks.close()
      release()
      const [, releaseBoth] = await both
      assert.ok(await isPending(closing))
      releaseBoth()
      await closing
    })

    it('throw a TypeError for an invalid key', async () => {
      const locks = new KeyedMutex(options())
      await locks.close()
      assert.throws(() => locks.acquire({}), TypeError)
    })

    it('name the keyed lock for an invalid key among several', async () => {
      const locks = new KeyedMutex(options())
      const named = await locks.acquire([{}]).catch(({ message }) => message)
      await locks.close()
      await assert.rejects(locks.acquire([{}]), { name: 'TypeError', message: named })
    })

    it('refuse a caller that asks for no key at all', async () => {
      const locks = new KeyedMutex(options())
      const semaphores = new KeyedSemaphore(1, options())
      await Promise.all([locks.close(), semaphores.close()])
      await assert.rejects(locks.acquire([]), closed)
      await assert.rejects(semaphores.acquire([]), closed)
      assert.throws(() => locks.tryAcquire([]), closed)
      assert.throws(() => locks.acquireSync([]), closed)
    })

    it('refuse a caller whose options throw, though diagnostics ask for its weight', async () => {
      const semaphore = new Semaphore(3, { ...options(), diagnostics: 'counters' })
      await semaphore.close()
      const broken = {
        get weight() {
          throw new Error('a getter that throws')
        },
      }
      await assert.rejects(semaphore.acquire(broken), closed)
      await assert.rejects(
        semaphore.runExclusive(() => {}, broken),
        closed,
      )
    })

    it('report refused callers to diagnostics', async () => {
      const watched = { ...options(), diagnostics: 'counters' }
      const semaphore = new Semaphore(3, watched)
      const locks = new KeyedMutex({ ...watched, name: watched.name && freshName('close') })
      await Promise.all([semaphore.close(), locks.close()])
      await assert.rejects(semaphore.acquire(2), closed)
      await assert.rejects(
        semaphore.runExclusive(() => {}, { weight: 2 }),
        closed,
      )
      assert.equal(semaphore.snapshot().totals.aborts, 2)
      await assert.rejects(locks.acquire('a'), closed)
      const { locks: all } = await boxoffice.snapshot()
      const { totals } = all.filter(({ kind }) => kind === 'KeyedMutex').at(-1)
      assert.equal(totals.aborts, 1)
    })
  })
}
