'use strict'
// Waits for a read-write lock keep their event loop alive while another thread could admit them,
// and no longer; as in keep_alive.test.js.
const assert = require('node:assert/strict')
const { runCode, withoutPending } = require('../helpers/processes.js')

const lock = "const lock = new RWLock({ name: 'lock' });"
const start = (code) => `const worker = await start("${lock} ${code}"); worker.unref()`
/** A worker that holds it until the main thread waits for it, and is idle. */
const forAWhile = (acquire) =>
  `${start(`const held = lock.${acquire}(); say(); untilLetGo(); held()`)}; keptAlive().then(letGo)`
const readForAWhile = forAWhile('acquireReadSync')
const writtenForAWhile = forAWhile('acquireWriteSync')
/** For a worker that listens for a message. */
const tellLater = "keptAlive().then(() => worker.postMessage('go on'))"
const show = (name) => `.then((release) => { show('${name}'); release() })`
const wait = (mode, name) => `lock.acquire${mode}()${show(name)}`

/** A worker that waits to write until a message. */
const writerThatGivesUp = start(
  [
    'const controller = new AbortController()',
    "lock.acquireWrite({ signal: controller.signal }).catch((error) => error === 'over' || show(error))",
    "parentPort.once('message', () => controller.abort('over'))",
    'say()',
  ].join('; '),
)

const stays = {
  'to read, while a worker writes': [`${writtenForAWhile}; ${wait('Read', 'read')}`, 'read'],
  'to write, while a worker writes': [
    `${writtenForAWhile}; ${wait('Write', 'written')}`,
    'written',
  ],
  'to write, while a worker reads': [`${readForAWhile}; ${wait('Write', 'written')}`, 'written'],
  'to upgrade, while a worker reads': [
    `const reader = await lock.acquireRead(); ${readForAWhile}; reader.upgrade()${show('upgraded')}`,
    'upgraded',
  ],
  'to read behind a writer of a worker that waits for this thread, and gives up': [
    `const reader = lock.tryAcquireRead()
     ${writerThatGivesUp}
     if (lock.tryAcquireRead() !== undefined) show('the writer is not queued')
     ${wait('Read', 'read')}
     ${tellLater}`,
    'read',
  ],
  'to read, when the writer of a worker dies': [
    `${start('lock.acquireWriteSync(); say(); setInterval(() => {}, 1000)')}
     lock.acquireRead().then((release) => show(release.abandoned)); worker.terminate()`,
    true,
  ],
  'to write, when the reader of a worker dies': [
    `${start("lock.acquireReadSync(); say(); parentPort.once('message', () => {})")}
     lock.acquireWrite().then((release) => show(release.abandoned)); ${tellLater}`,
    false,
  ],
}

const leaves = {
  'to write, while this thread reads': [`lock.tryAcquireRead(); ${wait('Write', 'never')}`],
  'to read, while this thread writes': [`lock.tryAcquireWrite(); ${wait('Read', 'never')}`],
  'to write, while this thread writes': [`await lock.acquireWrite(); ${wait('Write', 'never')}`],
  'to upgrade, while this thread reads once more': [
    `const reader = lock.tryAcquireRead(); lock.tryAcquireRead(); reader.upgrade()${show('never')}`,
  ],
  'to write, after this thread has upgraded': [
    `const reader = lock.tryAcquireRead(); await reader.upgrade(); ${wait('Write', 'never')}`,
  ],
  'to write, after this thread has downgraded': [
    `lock.tryAcquireWrite().downgrade(); ${wait('Write', 'never')}`,
  ],
  'to write, while this thread reads, in memory that no other thread has': [
    `const own = new RWLock({ shared: true }); own.tryAcquireRead(); own.acquireWrite()${show('never')}`,
  ],
  'to read, while this thread writes, in memory that no other thread has': [
    `const own = new RWLock({ shared: true }); own.tryAcquireWrite(); own.acquireRead()${show('never')}`,
  ],
  'to write, while this thread reads by another object': [
    `new RWLock({ name: 'lock' }).tryAcquireRead(); ${wait('Write', 'never')}`,
  ],
  'to write, after this thread was admitted to read': [
    `${writtenForAWhile}; await lock.acquireRead(); show('first'); ${wait('Write', 'never')}`,
    'first',
  ],
}

const inWorkers = {
  'to upgrade, while this thread reads, keeps a worker alive': [
    `const reader = lock.tryAcquireRead()
     const worker = await start("${lock} lock.tryAcquireRead().upgrade().then((w) => { show('upgraded'); w() }); say(); keptAlive().then(say)")
     worker.once('message', reader)`,
    'upgraded',
  ],
  'to write, while it reads itself, lets a worker end': [
    `const worker = await start("${lock} lock.tryAcquireRead(); lock.acquireWrite().then(() => show('never')); say()")
     show((await lock.acquireWrite()).abandoned)`,
    false,
  ],
}

async function check(code, expected) {
  const child = await runCode(`${lock} process.on('exit', (code) => show('exit ' + code)); ${code}`)
  assert.deepEqual([...child.shown, withoutPending(child.stderr)], [...expected, 'exit 0', ''])
  assert.deepEqual([child.code, child.signal], [0, null])
}

describe('a wait for a read-write lock', function () {
  this.timeout(60_000)
  for (const [name, [code, ...expected]] of Object.entries(stays)) {
    it(`${name}, keeps the process alive`, () => check(code, expected))
  }
  for (const [name, [code, ...expected]] of Object.entries(leaves)) {
    // `both` has another thread that might release, as far as Node knows: without one no wait keeps
    // the process alive.
    const beside = start('say(); setInterval(() => {}, 1000)').replace('worker =', 'idle =')
    const both = `${beside.replaceAll('worker.unref', 'idle.unref')}; ${code}`
    it(`${name}, does not keep the process alive`, () => check(both, expected))
  }
  for (const [name, [code, shown]] of Object.entries(inWorkers)) {
    it(name, () => check(`${code}; show((await worker.ended)[0])`, [shown, 0]))
  }
})
