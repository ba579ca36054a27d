'use strict'
// A wait keeps its event loop alive while another thread can let it in, and no longer (DESIGN.md,
// section 5). Every case is a process of its own that has nothing else to stay for; it shows what has
// been granted, and the code with which it exits.
const assert = require('node:assert/strict')
const { runCode } = require('../helpers/processes.js')

const start = (code) => `const worker = await start("${code}"); worker.unref()`
/** A worker that holds it for a while in which the main thread has nothing to do. */
const heldForAWhile = start('mutex.lockSync(); say(); sleep(200); mutex.unlock()')
const grants = (name) => `.then((release) => { show('${name}'); return release })`
const acquire = (name) => `mutex.acquire()${grants(name)}.then((release) => release())`

// By name: the code, and what it shows before the exit code.
const stays = {
  'held by a worker, until it is granted': [`${heldForAWhile}; ${acquire('granted')}`, 'granted'],
  'held by a worker, with lock()': [
    `${heldForAWhile}; mutex.lock().then(() => show('granted'))`,
    'granted',
  ],
  'held by a worker, with runExclusive()': [
    `${heldForAWhile}; mutex.runExclusive(() => show('granted'))`,
    'granted',
  ],
  'held by a worker, with waitForUnlock()': [
    `${heldForAWhile}; mutex.waitForUnlock().then(() => show('told'))`,
    'told',
  ],
  'held by a worker, with many waits': [
    `${heldForAWhile}; ${acquire('first')}; for (let i = 0; i < 2000; i++) mutex.acquire().then((r) => r())
     ${acquire('last')}`,
    'first',
    'last',
  ],
  'held by a worker that then blocks for it again': [
    `${start('mutex.lockSync(); say(); sleep(100); mutex.unlock(); mutex.lockSync(); sleep(100); mutex.unlock()')}
     ${acquire('granted')}`,
    'granted',
  ],
  'held by a worker that is terminated': [
    `${start('mutex.lockSync(); say(); setInterval(() => {}, 1000)')}
     mutex.acquire().then((release) => show(release.abandoned)); worker.terminate()`,
    true,
  ],
  'held by a worker that comes to its end': [
    `${start('mutex.lockSync(); say(); setTimeout(() => {}, 100)')}
     mutex.acquire().then((release) => show(release.abandoned))`,
    true,
  ],
  'held by a worker that exits': [
    `${start('mutex.lockSync(); say(); setTimeout(() => process.exit(), 100)')}
     mutex.acquire().then((release) => show(release.abandoned))`,
    true,
  ],
  'handed by us to a worker, with one of ours behind it': [
    `mutex.tryLock()
     ${start("mutex.acquire().then((release) => { show('theirs'); setTimeout(release, 200) }); say()")}
     ${acquire('ours')}
     // Nobody may overtake the worker any more.
     setTimeout(() => mutex.unlock(), 20)`,
    'theirs',
    'ours',
  ],
  'handed by us to a worker that is blocked, with one of ours behind it': [
    `mutex.tryLock()
     ${start("say(); mutex.lockSync(); show('theirs'); sleep(200); mutex.unlock()")}
     await line()
     ${acquire('ours')}
     setTimeout(() => mutex.unlock(), 20)`,
    'theirs',
    'ours',
  ],
  'held by a worker, until it is cancelled': [
    `${start('mutex.lockSync(); say(); setInterval(() => {}, 1000)')}
     mutex.lock().catch(show); setTimeout(() => mutex.cancel('cancelled'), 50)`,
    'cancelled',
  ],
  'held by a worker, until it is aborted': [
    `${start('mutex.lockSync(); say(); setInterval(() => {}, 1000)')}
     const controller = new AbortController()
     mutex.lock({ signal: controller.signal }).catch(show)
     setTimeout(() => controller.abort('aborted'), 50)`,
    'aborted',
  ],
  'held by a worker, with another wait beside it that gives up': [
    // So long that it is late even where the machine does something else for a second.
    `${start('mutex.lockSync(); say(); sleep(2000); mutex.unlock()')}
     mutex.lock({ timeout: 5 }).catch((error) => show(error.code)); ${acquire('granted')}`,
    'ERR_LOCK_TIMEOUT',
    'granted',
  ],
  'granted to us by a worker, of which we have not heard yet': [
    `${start('mutex.lockSync(); say(); sleep(100); mutex.unlock()')}; ${acquire('first')}
     const holder = word[0] >>> 4
     // In this turn nothing can be heard.
     while (Atomics.load(word, 0) >>> 4 === holder);
     ${acquire('second')}`,
    'first',
    'second',
  ],
  'granted to us by a worker that is gone before we have begun to wait': [
    `${start('mutex.lockSync(); say(); while ((Atomics.load(word, 0) & 1) === 0); mutex.unlock()')}
     const holder = word[0] >>> 4
     const Usual = Promise
     globalThis.Promise = class extends Usual {
       // Called when we stand in line already, for the promise that we wait with.
       constructor(executor) {
         super(executor)
         // A promise for the value that acquire() would have at once.
         if (Atomics.load(word, 0) % 2 === 0) return
         globalThis.Promise = Usual
         while (Atomics.load(word, 0) >>> 4 === holder);
         Atomics.wait(word, 0, Atomics.load(word, 0), 100) // for the environment of the worker to end
       }
     }
     ${acquire('granted')}`,
    'granted',
  ],
  'held by a worker, beside one that we hold ourselves': [
    `const other = new Mutex({ shared: true }); other.tryLock(); other.acquire().then(() => show('never'))
     ${heldForAWhile}; ${acquire('granted')}`,
    'granted',
  ],
}

// Needs the holder to count: a shared mutex that we hold ourselves.
const leaves = {
  'held by ourselves': [`mutex.tryLock(); ${acquire('never')}`],
  'held by ourselves, with all kinds of waits': [
    `await mutex.acquire(); mutex.lock().then(() => show('never'))
     mutex.runExclusive(() => show('never')); mutex.waitForUnlock().then(() => show('never'))`,
  ],
  'held by ourselves, through another object': [
    `const other = new Mutex({ buffer: mutex.buffer }); other.tryLock(); ${acquire('never')}`,
  ],
  'held by ourselves, in memory that no other thread has': [
    `const other = new Mutex({ shared: true }); other.tryLock(); other.acquire().then(() => show('never'))`,
  ],
  'held by ourselves, with an unref() timer that would unlock it': [
    `mutex.tryLock(); ${acquire('never')}; setTimeout(() => mutex.unlock(), 10_000).unref()`,
  ],
  'held by ourselves, while a worker waits before us': [
    `mutex.tryLock(); ${start('mutex.acquire(); say()')}; ${acquire('never')}`,
  ],
  'granted to us, with another one of ours behind it': [
    `${heldForAWhile}; mutex.acquire()${grants('first')}; ${acquire('never')}`,
    'first',
  ],
  'granted to us after a death, with another one of ours behind it': [
    `${start('mutex.lockSync(); say(); setTimeout(() => {}, 50)')}
     mutex.acquire()${grants('first')}; ${acquire('never')}`,
    'first',
  ],
  'held by ourselves again, after it was handed to and fro': [
    `${heldForAWhile}; (await mutex.acquire())(); mutex.tryLock(); ${acquire('never')}; show('ours')`,
    'ours',
  ],
}

/** `own` runs with `mutex` held by `holder`; what its worker shows, and its exit code. */
const inWorkers = {
  'that we hold keeps a worker alive': [
    `mutex.tryLock()
     const worker = await start("mutex.acquire().then((r) => { show('granted'); r() }); say()")
     setTimeout(() => mutex.unlock(), 200)`,
    'granted',
  ],
  'that a worker holds itself lets it end': [
    `const worker = await start("mutex.lockSync(); mutex.acquire().then(() => show('never')); say()")
     show((await mutex.acquire()).abandoned)`,
    true,
  ],
}

async function check(code, expected) {
  const child = await runCode(`process.on('exit', (code) => show('exit ' + code)); ${code}`)
  assert.deepEqual([...child.shown, child.stderr], [...expected, 'exit 0', ''])
  assert.deepEqual([child.code, child.signal], [0, null])
}

describe('a wait for a mutex', function () {
  this.timeout(60_000)
  for (const [name, [code, ...expected]] of Object.entries(stays)) {
    it(`${name}, keeps the process alive`, () => check(code, expected))
  }
  for (const [name, [code, ...expected]] of Object.entries(leaves)) {
    it(`${name}, does not keep the process alive`, () => check(code, expected))
  }
  for (const [name, [code, shown]] of Object.entries(inWorkers)) {
    it(name, () => check(`${code}; show((await worker.ended)[0])`, [shown, 0]))
  }
})

describe('a mutex that is held', function () {
  this.timeout(60_000)
  it('keeps nobody alive, though others wait for it', async () => {
    await check(`mutex.tryLock(); ${start('mutex.acquire(); say()')}`, [])
    await check(`${start('mutex.lockSync(); say()')}; ${acquire('granted')}`, ['granted'])
  })
})
