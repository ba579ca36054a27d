'use strict'
// A wait keeps its event loop alive while another thread can admit it, and no longer.
// Each case is a process that nothing else keeps alive; its output shows the grants and
// its exit code.
const assert = require('node:assert/strict')
const { entry, run, runCode, withoutPending } = require('../helpers/processes.js')

const start = (code) => `const worker = await start("${code}"); worker.unref()`
/** Lets the holder go once the main thread is idle, and is kept alive by a wait. */
const letGoLater = 'keptAlive().then(letGo)'
/** A worker that holds it until the main thread waits for it, and is idle. */
const heldForAWhile = `${start('mutex.lockSync(); say(); untilLetGo(); mutex.unlock()')}; ${letGoLater}`
/** For a worker that listens for a message. */
const tellLater = "keptAlive().then(() => worker.postMessage('go on'))"
const grants = (name) => `.then((release) => { show('${name}'); return release })`
const acquire = (name) => `mutex.acquire()${grants(name)}.then((release) => release())`

// By name: the code, and the output before the exit code.
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
    `${start('mutex.lockSync(); say(); untilLetGo(); mutex.unlock(); mutex.lockSync(); untilLetGo(1); mutex.unlock()')}
     ${letGoLater}.then(keptAlive).then(letGo); ${acquire('granted')}`,
    'granted',
  ],
  'held by a worker that is terminated': [
    `${start('mutex.lockSync(); say(); setInterval(() => {}, 1000)')}
     mutex.acquire().then((release) => show(release.abandoned)); worker.terminate()`,
    true,
  ],
  'held by a worker that ends by itself': [
    `${start("mutex.lockSync(); say(); parentPort.once('message', () => {})")}
     mutex.acquire().then((release) => show(release.abandoned)); ${tellLater}`,
    true,
  ],
  'held by a worker that exits': [
    `${start("mutex.lockSync(); say(); parentPort.once('message', () => process.exit())")}
     mutex.acquire().then((release) => show(release.abandoned)); ${tellLater}`,
    true,
  ],
  'handed by this thread to a worker, with a waiter of this thread behind it': [
    `mutex.tryLock()
     ${start("mutex.acquire().then((release) => { show('theirs'); parentPort.once('message', release) }); say()")}
     ${acquire('ours')}
     // From then on no thread may overtake the worker.
     setTimeout(() => { mutex.unlock(); ${tellLater} }, 20)`,
    'theirs',
    'ours',
  ],
  'handed by this thread to a blocked worker, with a waiter of this thread behind it': [
    `mutex.tryLock()
     ${start("say(); mutex.lockSync(); show('theirs'); untilLetGo(); mutex.unlock()")}
     await line()
     ${acquire('ours')}
     setTimeout(() => { mutex.unlock(); ${letGoLater} }, 20)`,
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
    // The worker unlocks after the wait has given up, when the main thread is idle.
    `${start('mutex.lockSync(); say(); untilLetGo(); mutex.unlock()')}
     mutex.lock({ timeout: 5 }).catch((error) => { show(error.code); ${letGoLater} })
     ${acquire('granted')}`,
    'ERR_LOCK_TIMEOUT',
    'granted',
  ],
  'granted by a worker, before this thread has read the completion': [
    `${start('mutex.lockSync(); say(); untilLetGo(); mutex.unlock()')}
     const holder = word[0] >>> 4
     ${acquire('first')}
     letGo()
     // Completions are not read in this turn.
     while (Atomics.load(word, 0) >>> 4 === holder);
     ${acquire('second')}`,
    'first',
    'second',
  ],
  'granted by a worker that ends before this thread begins to wait': [
    `${start('mutex.lockSync(); say(); while ((Atomics.load(word, 0) & 1) === 0); mutex.unlock()')}
     const holder = word[0] >>> 4
     const Usual = Promise
     globalThis.Promise = class extends Usual {
       // Called when the caller is queued already, with the promise it waits by.
       constructor(executor) {
         super(executor)
         // A promise of the value that acquire() would have at once.
         if (Atomics.load(word, 0) % 2 === 0) return
         globalThis.Promise = Usual
         while (Atomics.load(word, 0) >>> 4 === holder);
         Atomics.wait(word, 0, Atomics.load(word, 0), 100) // until the environment of the worker has ended
       }
     }
     ${acquire('granted')}`,
    'granted',
  ],
  'held by a worker, beside one that this thread holds': [
    `const other = new Mutex({ shared: true }); other.tryLock(); other.acquire().then(() => show('never'))
     ${heldForAWhile}; ${acquire('granted')}`,
    'granted',
  ],
}

// This thread holds the mutex itself, so no other thread can end its waits.
const leaves = {
  'held by this thread': [`mutex.tryLock(); ${acquire('never')}`],
  'held by this thread, with all kinds of waits': [
    `await mutex.acquire(); mutex.lock().then(() => show('never'))
     mutex.runExclusive(() => show('never')); mutex.waitForUnlock().then(() => show('never'))`,
  ],
  'held by this thread, through another object': [
    `const other = new Mutex({ buffer: mutex.buffer }); other.tryLock(); ${acquire('never')}`,
  ],
  'held by this thread, in memory that no other thread has': [
    `const other = new Mutex({ shared: true }); other.tryLock(); other.acquire().then(() => show('never'))`,
  ],
  'held by this thread, with an unref() timer that would unlock it': [
    `mutex.tryLock(); ${acquire('never')}; setTimeout(() => mutex.unlock(), 10_000).unref()`,
  ],
  'held by this thread, while a worker waits ahead of it': [
    `mutex.tryLock(); ${start('mutex.acquire(); say()')}; ${acquire('never')}`,
  ],
  'granted to this thread, with another of its waiters behind it': [
    `${heldForAWhile}; mutex.acquire()${grants('first')}; ${acquire('never')}`,
    'first',
  ],
  'granted to this thread after a death, with another of its waiters behind it': [
    `${start("mutex.lockSync(); say(); parentPort.once('message', () => {})")}
     mutex.acquire()${grants('first')}; ${acquire('never')}; ${tellLater}`,
    'first',
  ],
  'of another instance of the package in this thread': [
    `const first = new (require(${JSON.stringify(entry)}).Semaphore)(0, { name: 'instances', fairness: 'fifo' })
     for (const file of Object.keys(require.cache)) if (!file.endsWith('.node')) delete require.cache[file]
     const again = new (require(${JSON.stringify(entry)}).Semaphore)(0, { name: 'instances', fairness: 'fifo' })
     first.acquire().then(() => show('granted'))
     again.acquire().then(() => show('never'))
     again.release()`,
    'granted',
  ],
  'beside a worker that has only imported the package': [
    `const code = 'require(' + JSON.stringify(${JSON.stringify(entry)}) + ');' +
       "require('node:worker_threads').parentPort.postMessage('up'); setInterval(() => {}, 1000)"
     const worker = new Worker(code, { eval: true })
     await once(worker, 'message')
     worker.unref()
     const { Semaphore } = require(${JSON.stringify(entry)})
     new Semaphore(0, { name: 'permits' }).acquire().then(() => show('never'))`,
  ],
  'held by this thread again, after it was handed to and fro': [
    `${heldForAWhile}; (await mutex.acquire())(); mutex.tryLock(); ${acquire('never')}; show('ours')`,
    'ours',
  ],
}

/** Runs `own` while `holder` holds `mutex`; returns the worker's output and its exit code. */
const inWorkers = {
  'held by the main thread keeps a worker alive': [
    `mutex.tryLock()
     const worker = await start("mutex.acquire().then((r) => { show('granted'); r() }); say(); keptAlive().then(say)")
     worker.once('message', () => mutex.unlock())`,
    'granted',
  ],
  'held by a worker lets that worker end': [
    `const worker = await start("mutex.lockSync(); mutex.acquire().then(() => show('never')); say()")
     show((await mutex.acquire()).abandoned)`,
    true,
  ],
}

async function check(code, expected) {
  const child = await runCode(`process.on('exit', (code) => show('exit ' + code)); ${code}`)
  assert.deepEqual([...child.shown, withoutPending(child.stderr)], [...expected, 'exit 0', ''])
  assert.deepEqual([child.code, child.signal], [0, null])
}

describe('a wait', function () {
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
  it('does not keep its process alive, though other threads wait for it', async () => {
    await check(`mutex.tryLock(); ${start('mutex.acquire(); say()')}`, [])
    await check(`${start('mutex.lockSync(); say()')}; ${acquire('granted')}`, ['granted'])
  })
})

describe('a wait of a worker, before any other thread has loaded the package,', function () {
  this.timeout(60_000)
  // By name: what the worker waits for, and what another worker does later.
  const waits = {
    'for a condition': [
      `const mutex = new Mutex({ name: 'mutex' })
       wait = mutex.runExclusive(() => new ConditionVariable({ name: 'condition' }).wait(mutex))`,
      "new ConditionVariable({ name: 'condition' }).notifyOne()",
    ],
    'for a semaphore': [
      "wait = new Semaphore(0, { name: 'permits' }).acquire()",
      "new Semaphore(0, { name: 'permits' }).release()",
    ],
    'for a latch': [
      "wait = new CountdownLatch(1, { name: 'latch' }).wait()",
      "new CountdownLatch(1, { name: 'latch' }).countDown()",
    ],
  }
  for (const [name, [waiting, ending]] of Object.entries(waits)) {
    it(`${name}, keeps the worker alive`, async () => {
      const { shown, stderr, code } = await run(['-e', twoWorkers(waiting, ending)])
      assert.deepEqual(
        [...shown.sort(), withoutPending(stderr), code],
        ['done', 'exit 0', 'exit 0', '', 0],
      )
    })
  }

  /** Starts the second worker when the first one waits. */
  const twoWorkers = (waiting, ending) => `'use strict'
    const { writeSync } = require('node:fs')
    const { Worker } = require('node:worker_threads')
    const show = (value) => writeSync(1, JSON.stringify(value) + '\\n')
    const load = 'const { parentPort } = require("node:worker_threads"); let wait;' +
      ' const { ConditionVariable, CountdownLatch, Mutex, Semaphore } = require(${JSON.stringify(entry)});'
    const start = (code) => new Worker(load + code, { eval: true })
      .on('message', (text) => text === 'waits' ? start(${JSON.stringify(ending)}) : show(text))
      .on('exit', (code) => show('exit ' + code))
    start(${JSON.stringify(`${waiting}; parentPort.postMessage('waits'); wait.then(() => parentPort.postMessage('done'))`)})`
})
