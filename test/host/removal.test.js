'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { within } = require('../helpers/agents.js')
const { removeAll, useHosts } = require('../helpers/hosts.js')
const { onlyOnPosix } = require('../helpers/skip.js')

/** Ways to remove a directory while other processes use it. */
const removals = {
  'the directory is removed': ({ directory }) => removeAll(directory),
  'the directory is renamed': ({ directory }) => fs.renameSync(directory, `${directory}.old`),
  'the files are removed': ({ run }) => removeAll(run),
  'the members file is removed': ({ run }) => fs.rmSync(path.join(run, 'members')),
  'the FIFO of a process is removed': ({ run }) => fs.rmSync(path.join(run, 'fifo-1')),
  'the file of the lock is removed': ({ run }) => {
    for (const file of fs.readdirSync(run)) {
      if (file.endsWith('.lock')) fs.rmSync(path.join(run, file))
    }
  },
}

const kinds = {
  Mutex: {
    make: `new boxoffice.Mutex({ scope: 'host', name: 'a' })`,
    acquire: 'my.lock.acquire()',
    tryAcquire: 'my.lock.tryAcquire()',
  },
  Semaphore: {
    make: `new boxoffice.Semaphore(1, { scope: 'host', name: 'a' })`,
    acquire: 'my.lock.acquire().then(([, release]) => release)',
    tryAcquire: 'my.lock.tryAcquire()',
  },
  RWLock: {
    make: `new boxoffice.RWLock({ scope: 'host', name: 'a' })`,
    acquire: 'my.lock.acquireWrite()',
    tryAcquire: 'my.lock.tryAcquireWrite()',
  },
  KeyedMutex: {
    make: `new boxoffice.KeyedMutex({ scope: 'host', name: 'a' })`,
    acquire: `my.lock.acquire('key')`,
    tryAcquire: `my.lock.tryAcquire('key')`,
  },
  LockManager: {
    make: `new boxoffice.LockManager({ scope: 'host', name: 'a' })`,
    acquire: `my.lock.acquire('key')`,
    tryAcquire: `await my.lock.acquire('key', { ifAvailable: true })`,
  },
}

describe('Files of scope host that are removed while processes use them', function () {
  onlyOnPosix()
  this.timeout(60_000)
  const hosts = useHosts()
  let last = 0

  /** A holder and a waiter in a directory of their own, to which `has` is applied. */
  async function contention({ make, acquire } = kinds.Mutex) {
    const directory = path.join(hosts.directory, `place-${++last}`)
    const start = () => hosts.start({ BOXOFFICE_DIRECTORY: directory })
    const [holder, waiter] = [start(), start()]
    const begin = `
      my.warnings = []
      process.removeAllListeners('warning').on('warning', (warning) => my.warnings.push(warning))
      my.codeOf = (promise) => promise.then(() => 'granted', (error) => error.code)
      my.lock = ${make}`
    await holder.does(`${begin}; my.release = await ${acquire}`)
    await waiter.does(`${begin}; my.wait = my.codeOf(${acquire})`)
    const run = path.join(directory, fs.readdirSync(directory)[0])
    return { directory, run, holder, waiter, start, begin }
  }

  const attempts = `
    return [
      await my.codeOf(my.lock.acquire()),
      await my.codeOf(my.lock.runExclusive(() => {})),
      await codeOf(() => my.lock.tryAcquire()),
      await codeOf(() => new boxoffice.Mutex({ scope: 'host', name: 'a' })),
      my.lock.isLocked()]`
  const refusals = [...Array(4).fill('ERR_LOCK_SEGMENT'), false]

  /** The outcome of the wait. */
  const outcome = (waiter) => within(30_000, waiter.does('return my.wait'))
  const warned = (holder) =>
    within(
      30_000,
      holder.does(`
        while (my.warnings.length === 0) await turn()
        const [{ code, message, detail }] = my.warnings
        return { code, text: message + detail }`),
    )

  for (const [what, remove] of Object.entries(removals)) {
    it(`waiter is rejected and holder is warned when ${what}`, async () => {
      const place = await contention()
      remove(place)
      assert.equal(await outcome(place.waiter), 'ERR_LOCK_SEGMENT')
      const { code, text } = await warned(place.holder)
      assert.equal(code, 'ERR_LOCK_SEGMENT')
      assert.match(text, /the mutex "a" of this host: .*removed.*end all.*This process holds it/)
      // The holder releases as usual. Neither process is admitted again.
      await place.holder.does('my.release()')
      for (const process of [place.holder, place.waiter]) {
        assert.deepEqual(await process.does(attempts), refusals)
      }
    })

    it(`wait ends when ${what} and the holder is killed at once`, async () => {
      const place = await contention()
      await place.waiter.stops()
      remove(place)
      await place.holder.dies()
      place.waiter.child.kill('SIGCONT')
      assert.match(await outcome(place.waiter), /^(granted|ERR_LOCK_SEGMENT)$/)
    })

    it(`wait ends when ${what}, others make it anew, and the holder is killed`, async () => {
      const place = await contention()
      for (const one of [place.waiter, place.holder]) await one.stops()
      remove(place)
      // This process does not know of the removal. Remaining files tell it.
      const newcomer = place.start()
      await newcomer.does(`
        my.wait = codeOf(async () => {
          my.release = await new boxoffice.Mutex({ scope: 'host', name: 'a' }).acquire()
        }).then((code) => code ?? 'granted')`)
      await place.holder.dies()
      place.waiter.child.kill('SIGCONT')
      for (const [who, process] of Object.entries({ waiter: place.waiter, newcomer })) {
        const end = await outcome(process)
        assert.match(end, /^(granted|ERR_LOCK_SEGMENT)$/, `the wait of the ${who} ends: ${end}`)
      }
    })
  }

  for (const [name, kind] of Object.entries(kinds)) {
    it(`waiter of a ${name} is rejected, and nothing is granted any more`, async () => {
      const place = await contention(kind)
      removeAll(place.directory)
      assert.equal(await outcome(place.waiter), 'ERR_LOCK_SEGMENT')
      await warned(place.holder)
      await place.holder.does('my.release()')
      for (const process of [place.holder, place.waiter]) {
        const codes = await process.does(`return [
          await my.codeOf(${kind.acquire}), await codeOf(async () => ${kind.tryAcquire})]`)
        assert.deepEqual(codes, ['ERR_LOCK_SEGMENT', 'ERR_LOCK_SEGMENT'])
      }
    })
  }

  it('thread that blocks returns with ERR_LOCK_SEGMENT', async () => {
    const place = await contention()
    await place.waiter.does(`
      const { Worker } = require('node:worker_threads')
      const worker = new Worker(\`
        const { parentPort } = require('node:worker_threads')
        const { Mutex } = require(\${JSON.stringify(${JSON.stringify(require.resolve('../..'))})})
        const lock = new Mutex({ scope: 'host', name: 'a' })
        parentPort.postMessage('begun')
        try { lock.lockSync(); parentPort.postMessage('granted') }
        catch ({ code }) { parentPort.postMessage(code) }\`, { eval: true })
      await new Promise((resolve) => worker.once('message', resolve))
      my.blocked = new Promise((resolve) => worker.once('message', resolve))
      while (my.lock.snapshot().waiting < 2) await turn()`)
    removeAll(place.directory)
    assert.equal(await within(30_000, place.waiter.does('return my.blocked')), 'ERR_LOCK_SEGMENT')
  })

  it('waiters are rejected even if a blocked thread has found the removal', async () => {
    const make = `new boxoffice.KeyedMutex({ scope: 'host', name: 'a', allowBlockingMainThread: true })`
    const place = await contention({ make, acquire: `my.lock.acquire('b')` })
    await place.holder.does(`my.other = await my.lock.acquire('c')`)
    const removal = `require('node:fs').renameSync(${JSON.stringify(place.directory)}, ${JSON.stringify(`${place.directory}.old`)})`
    const blocked = place.waiter.does(`${removal}; return codeOf(() => my.lock.acquireSync('c'))`)
    assert.equal(await within(30_000, blocked), 'ERR_LOCK_SEGMENT')
    assert.equal(await outcome(place.waiter), 'ERR_LOCK_SEGMENT')
  })

  it('reader that waits to upgrade is rejected, and keeps reading', async () => {
    const place = await contention({ make: kinds.RWLock.make, acquire: 'my.lock.acquireRead()' })
    assert.equal(await outcome(place.waiter), 'granted')
    await place.holder.does('my.upgrade = my.codeOf(my.release.upgrade())')
    removeAll(place.directory)
    const upgrade = place.holder.does('return my.upgrade')
    assert.equal(await within(30_000, upgrade), 'ERR_LOCK_SEGMENT')
    await warned(place.holder)
    await place.holder.does('my.release()')
  })

  it('other locks of the directory are granted when the file of one is removed', async () => {
    const place = await contention()
    const other = `my.other ??= new boxoffice.Mutex({ scope: 'host', name: 'b' })`
    await place.holder.does(`${other}; my.held = await my.other.acquire()`)
    await place.waiter.does(`${other}; my.second = my.codeOf(my.other.acquire())`)
    fs.rmSync(path.join(place.run, 'mutex.a.lock'))
    assert.equal(await outcome(place.waiter), 'ERR_LOCK_SEGMENT')
    await place.holder.dies()
    assert.equal(await within(30_000, place.waiter.does('return my.second')), 'granted')
  })

  it('processes with a removed file clean up in the file that replaced it', async () => {
    const place = await contention()
    fs.rmSync(path.join(place.run, 'mutex.a.lock'))
    assert.equal(await outcome(place.waiter), 'ERR_LOCK_SEGMENT')
    const other = `my.other = new boxoffice.Mutex({ scope: 'host', name: 'b' })`
    const [newcomer, next] = [place.start(), place.start()]
    await newcomer.does(
      `${place.begin}; await my.lock.acquire(); ${other}; await my.other.acquire()`,
    )
    await next.does(`${place.begin}; my.wait = my.codeOf(my.lock.acquire())`)
    await place.waiter.does(`${other}; my.second = my.codeOf(my.other.acquire())`)
    // While the others clean up.
    await next.stops()
    await newcomer.dies()
    assert.equal(await within(30_000, place.waiter.does('return my.second')), 'granted')
    next.child.kill('SIGCONT')
    assert.equal(await outcome(next), 'granted')
  })

  it('process that starts after the removal of a directory finds its locks free', async () => {
    const place = await contention()
    removeAll(place.directory)
    await outcome(place.waiter)
    const newcomer = place.start()
    assert.equal(
      await newcomer.does(`${place.begin}; return my.codeOf(my.lock.acquire())`),
      'granted',
    )
    // Processes from before the removal are not admitted beside it, not even for a lock of another
    // name.
    const anew = `return codeOf(() => new boxoffice.Mutex({ scope: 'host', name: 'new' }))`
    assert.equal(await place.waiter.does(anew), 'ERR_LOCK_SEGMENT')
    const next = place.start()
    await next.does(`${place.begin}; my.wait = my.codeOf(my.lock.acquire())`)
    await newcomer.dies()
    assert.equal(await outcome(next), 'granted')
  })
})
