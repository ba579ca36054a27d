'use strict'
// Faults of navigator.locks in Node 24 and 26 that this library must not have. Each runs in a
// process of its own if it needs one.
const assert = require('node:assert/strict')
const { locks } = require('../..')
const { settled } = require('../helpers/keyed.js')
const { withoutPending } = require('../helpers/processes.js')
const { runLocks, stateOf } = require('../helpers/web_locks.js')

async function shows(code, ...expected) {
  const child = await runLocks(code)
  assert.deepEqual([child.shown, withoutPending(child.stderr), child.code], [expected, '', 0])
}

describe("the faults of Node's own locks", function () {
  this.timeout(60_000)

  it('two threads inside one exclusive lock', () =>
    shows(
      `const seen = new Int32Array(new SharedArrayBuffer(12))
       // There, a waiting request need not keep its thread alive: another fault, which would hide
       // this one.
       const play = \`async (locks, seen) => {
         const timer = setInterval(() => {}, 1000)
         const task = async () => {
           for (let i = 0; i < 2000; i++) {
             await locks.request('room', async () => {
               if (++seen[0] !== 1) seen[1]++
               if (i % 3 === 0) await null
               for (let wait = 0; wait < 200; wait++);
               if (seen[0]-- !== 1) seen[1]++
               Atomics.add(seen, 2, 1)
             })
             if (i % 50 === 0) await new Promise(setImmediate)
           }
         }
         await Promise.all(Array.from({ length: 5 }, task))
         clearInterval(timer)
       }\`
       const worker = await start(\`
         ready()
         const [seen] = await once(parentPort, 'message')
         await (\${play})(locks, seen)\`)
       worker.postMessage(seen)
       await Promise.all([eval(play)(locks, seen), worker.ended])
       show([...seen])`,
      [0, 0, 20_000],
    ))

  it('waiters of a lock whose worker ended are never woken', async () => {
    const ends = { 'is terminated': 'terminate', exits: 'exit', 'comes to its end': 'end' }
    for (const how of Object.values(ends)) {
      await shows(
        `const worker = await start(\`
           locks.request('a', () => { ready(); return never })
           parentPort.on('message', (how) => how === 'exit' ? process.exit() : parentPort.close())\`)
         const next = locks.request('a', () => show('granted'))
         '${how}' === 'terminate' ? worker.terminate() : worker.postMessage('${how}')
         await next`,
        'granted',
      )
    }
  })

  it('stealing a lock that another thread holds aborts the process', () =>
    shows(
      `const worker = await start(\`
         const timer = setInterval(() => {}, 1000)
         await locks.request('a', () => { ready(); return never }).catch((error) => show(error.name))
         clearInterval(timer)\`)
       const ours = await locks.request('a', { steal: true }, () => 'stolen')
       await worker.ended
       show(ours)
       show((await locks.query()).held)`,
      'AbortError',
      'stolen',
      [],
    ))

  it('a callback that throws synchronously never releases', async () => {
    const thrown = new Error('thrown')
    const thrower = () => {
      throw thrown
    }
    await assert.rejects(locks.request('a', thrower), thrown)
    assert.equal(await locks.request('a', () => 'free'), 'free')
  })

  it('the callback runs inside request() when the lock is free', async () => {
    let called = false
    const promise = locks.request('a', () => {
      called = true
    })
    assert.equal(called, false)
    await promise
    assert.equal(called, true)
  })

  it('20,000 queued synchronous callbacks overflow the stack', () =>
    shows(
      `let end
       const first = locks.request('a', () => new Promise((resolve) => { end = resolve }))
       let called = 0
       const all = Array.from({ length: 20_000 }, () => locks.request('a', () => { called++ }))
       while (end === undefined) await turn()
       end()
       await Promise.all([first, ...all])
       show(called)`,
      20_000,
    ))

  it('an aborted request stays in the queue, in query(), and blocks shared ones behind it', async () => {
    let end
    locks.request('a', { mode: 'shared' }, () => new Promise((resolve) => (end = resolve)))
    await settled()
    const controller = new AbortController()
    const aborted = locks.request('a', { signal: controller.signal }, () => {})
    const behind = locks.request('a', { mode: 'shared' }, () => 'behind')
    controller.abort()
    assert.deepEqual((await stateOf('a')).pending, [])
    await assert.rejects(aborted, { name: 'AbortError' })
    assert.equal(await behind, 'behind')
    end()
  })

  it("query() lists the calling thread's locks only", () =>
    shows(
      `const worker = await start("locks.request('a', () => { ready(); return never }); setInterval(() => {}, 1000)")
       show((await locks.query()).held.map((one) => one.name))
       worker.terminate()`,
      ['a'],
    ))

  it('a shared request overtakes an earlier exclusive one of another thread', () =>
    shows(
      `let end
       locks.request('a', { mode: 'shared' }, () => new Promise((resolve) => { end = resolve }))
       const worker = await start("ready(); await locks.request('a', () => show('exclusive'))")
       await pending('a')
       const late = locks.request('a', { mode: 'shared' }, () => show('shared'))
       await turn()
       end()
       await Promise.all([late, worker.ended])`,
      'exclusive',
      'shared',
    ))

  it('queued callbacks lose their AsyncLocalStorage context', () =>
    shows(
      `const { AsyncLocalStorage } = require('node:async_hooks')
       const storage = new AsyncLocalStorage()
       let end
       locks.request('a', () => new Promise((resolve) => { end = resolve }))
       await turn()
       const queued = storage.run('mine', () => locks.request('a', () => show(storage.getStore() ?? null)))
       end()
       await queued`,
      'mine',
    ))

  it('three waiting threads use all cores', () =>
    shows(
      `let end
       locks.request('a', () => new Promise((resolve) => { end = resolve }))
       const code = "ready(); await locks.request('a', () => {})"
       const workers = [await start(code), await start(code), await start(code)]
       while ((await locks.query()).pending.length < 3) await turn()
       // Starting the threads takes an unknown time, too: one quiet second is enough.
       let isQuiet = false
       for (let i = 0; i < 10 && !isQuiet; i++) {
         const before = process.cpuUsage()
         await new Promise((resolve) => setTimeout(resolve, 1000))
         const { user, system } = process.cpuUsage(before)
         isQuiet = user + system < 0.1e6
       }
       show(isQuiet)
       end()
       await Promise.all(workers.map(({ ended }) => ended))`,
      true,
    ))
})

describe('a waiting request', function () {
  this.timeout(60_000)
  const holder = (then) => `const worker = await start(${JSON.stringify(then)}); worker.unref()`
  /** Holds it until a message comes. */
  const untilTold = "{ ready(); return new Promise((end) => parentPort.once('message', end)) }"
  /** The message comes when this thread waits, and is idle. */
  const tellLater = "keptAlive().then(() => worker.postMessage('end'))"
  const heldForAWhile = `${holder(`locks.request('a', () => ${untilTold})`)}; ${tellLater}`
  const held = holder(
    "locks.request('a', () => { ready(); return never }); setInterval(() => {}, 1000)",
  )
  const ask = (what) => `locks.request('a', () => show('${what}'))`
  const stays = {
    'for a lock of a worker, until it is granted': [
      `${heldForAWhile}; ${ask('granted')}`,
      'granted',
    ],
    'by acquire()': [
      `${heldForAWhile}; locks.acquire('a').then((release) => { show('granted'); release() })`,
      'granted',
    ],
    'for a lock of a worker that is terminated': [
      `${held}; locks.acquire('a').then((release) => show(release.abandoned)); worker.terminate()`,
      true,
    ],
    'for a lock of a worker that ends by itself': [
      `${holder("locks.request('a', () => { ready(); return never }); parentPort.once('message', () => {})")}
       ${ask('granted')}; ${tellLater}`,
      'granted',
    ],
    'for a lock of a worker, until it is aborted': [
      `${held}; const controller = new AbortController()
       locks.request('a', { signal: controller.signal }, () => {}).catch(show)
       setTimeout(() => controller.abort('aborted'), 50)`, // while the worker goes on
      'aborted',
    ],
    'for a lock of a worker, while this thread holds another name and waits for it': [
      `locks.request('b', () => never); locks.request('b', () => show('never'))
       ${heldForAWhile}; ${ask('granted')}`,
      'granted',
    ],
    'behind a shared lock that this thread has released': [
      `const release = await locks.acquire('a', { mode: 'shared' })
       ${holder(`locks.request('a', { mode: 'shared' }, () => ${untilTold})`)}
       ${ask('granted')}; release(); ${tellLater}`,
      'granted',
    ],
    'to share a lock that this thread shares already, behind an exclusive request of a worker': [
      `locks.request('a', { mode: 'shared' }, () => never)
       ${holder(
         `const controller = new AbortController()
          locks.request('a', { signal: controller.signal }, () => {}).catch(() => {})
          parentPort.once('message', () => controller.abort()); ready(); setInterval(() => {}, 1000)`,
       )}
       locks.request('a', { mode: 'shared' }, () => show('granted')); ${tellLater}`,
      'granted',
    ],
    'for a lock stolen from this thread': [
      `const robbed = locks.request('a', () => never).catch((error) => show(error.name))
       await turn()
       ${ask('granted')}
       ${holder(`locks.request('a', { steal: true }, () => ${untilTold})`).replace('worker.unref()', 'await robbed; worker.unref()')}
       ${tellLater}`,
      'AbortError',
      'granted',
    ],
  }
  const leaves = {
    'for a lock of this thread itself': [`locks.request('a', () => never); ${ask('never')}`],
    'for a lock that this thread has by acquire()': [`await locks.acquire('a'); ${ask('never')}`],
    'for a lock that this thread shares with a worker': [
      `locks.request('a', { mode: 'shared' }, () => never)
       ${holder("locks.request('a', { mode: 'shared' }, () => { ready(); return never }); setInterval(() => {}, 1000)")}
       ${ask('never')}`,
    ],
    'for a lock granted to this thread, with another of its requests behind it': [
      `${heldForAWhile}; locks.request('a', () => { show('first'); return never }); ${ask('never')}`,
      'first',
    ],
    'alone, after all other threads have ended': [
      `locks.request('a', () => never); ${ask('never')}
       const worker = await start('ready()'); await worker.ended`,
    ],
  }
  for (const [name, [code, ...expected]] of Object.entries(stays)) {
    it(`${name}, keeps the process alive`, () => shows(code, ...expected))
  }
  for (const [name, [code, ...expected]] of Object.entries(leaves)) {
    it(`${name}, does not keep the process alive`, () => shows(code, ...expected))
  }

  it('keeps a worker alive while another thread has the lock', () =>
    shows(
      `let end
       locks.request('a', () => new Promise((resolve) => { end = resolve }))
       const worker = await start("locks.request('a', () => show('granted')); ready(); keptAlive().then(ready)")
       worker.once('message', () => end())
       show(await worker.ended)`,
      'granted',
      [0],
    ))
})
