'use strict'
// How many warnings a fault that repeats itself emits.
const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { runCode } = require('../helpers/processes.js')

const lib = path.join(__dirname, '..', '..', 'lib')

const listen = `
  const seen = []
  const several = (many) => new Promise((resolve) => {
    process.on('warning', ({ name, code, message, detail }) => {
      if (name !== 'BoxofficeWarning') return
      seen.push({ code, message, detail })
      if (seen.length === many) resolve()
    })
  })
  const { KeyedMutex, Semaphore } = require(${JSON.stringify(require.resolve('../..'))})
`
/** Holds of one site, all of which are due by the time of the first look. */
const holdsOf = (many, map) => `
  const map = new KeyedMutex(${map})
  const releases = []
  for (let i = 0; i < ${many}; i++) releases.push(await map.acquire(i))
  const due = performance.now() + 5
  while (performance.now() < due);
`

describe('Warnings that repeat themselves', () => {
  for (const diagnostics of [`'counters'`, 'true']) {
    it(`are counted: one in a second for each site, with ${diagnostics}`, async () => {
      const { shown } = await runCode(
        `${listen}
        const ended = several(2)
        const alive = setInterval(() => {}, 1e6)
        ${holdsOf(5000, `{ name: 'many', warnAfter: 1, diagnostics: ${diagnostics} }`)}
        await ended
        clearInterval(alive)
        for (const release of releases) release()
        show(seen)`,
      )
      const [[first, second]] = shown
      assert.equal(first.code, 'BOXOFFICE_LONG_HOLD')
      assert.match(first.message, /by the main thread$/)
      assert.match(second.message, /by the main thread \(and 4,998 more like it\)$/)
    })
  }

  it('of releasers that were collected are counted, too', async () => {
    const { shown } = await runCode(
      `${listen}
      const ended = several(2)
      const alive = setInterval(() => {}, 1e6)
      const lock = new Semaphore(5000, { diagnostics: true })
      for (let i = 0; i < 5000; i++) lock.tryAcquire()
      await turn()
      globalThis.gc()
      await ended
      clearInterval(alive)
      show(seen)`,
      { NODE_OPTIONS: '--expose-gc' },
    )
    const [[first, second]] = shown
    assert.equal(first.code, 'BOXOFFICE_LEAKED_RELEASER')
    assert.match(first.message, /stays locked$/)
    assert.match(second.message, /stays locked \(and [\d,]+ more like it\)$/)
    assert.match(second.detail, /^It was acquired here:\n/)
  })

  it('of diagnostics that fail for each key are counted, too', async () => {
    const { shown } = await runCode(
      `${listen}
      const ended = several(2)
      const { Observer } = require(${JSON.stringify(path.join(lib, 'diagnostics', 'observer.js'))})
      Observer.prototype.granted = () => { throw new Error('a bug') }
      const alive = setInterval(() => {}, 1e6)
      const map = new KeyedMutex({ diagnostics: true })
      for (let i = 0; i < 1000; i++) map.tryAcquire(i)
      await ended
      clearInterval(alive)
      show(seen)`,
    )
    const [[first, second]] = shown
    assert.equal(first.code, 'BOXOFFICE_DIAGNOSTICS_FAILED')
    assert.match(second.message, /: a bug \(and 998 more like it\)$/)
  })

  it('of one code leave room for those of another', async () => {
    const { shown } = await runCode(
      `${listen}
      const { warn } = require(${JSON.stringify(path.join(lib, 'core', 'warn.js'))})
      several(Infinity)
      for (let i = 0; i < 200; i++) warn('BOXOFFICE_MANY', 'one of many ' + i)
      for (const which of ['one', 'other']) warn('BOXOFFICE_FEW', which)
      await turn() // What is left out comes after a second.
      show(seen.map(({ code, message }) => [code, message]).filter(([code]) => code === 'BOXOFFICE_FEW'))`,
    )
    assert.deepEqual(shown, [
      [
        ['BOXOFFICE_FEW', 'one'],
        ['BOXOFFICE_FEW', 'other'],
      ],
    ])
  })

  for (const [end, code] of [
    ['ends', ''],
    ['calls process.exit()', 'process.exit()'],
    ['dies of an exception', 'setImmediate(() => { throw new Error("mine") })'],
  ]) {
    it(`are not lost when the process ${end}`, async () => {
      const { stderr } = await runCode(
        `${listen}
        const ended = several(1)
        const alive = setInterval(() => {}, 1e6)
        ${holdsOf(500, '{ warnAfter: 1 }')}
        await ended
        clearInterval(alive)
        ${code}`,
      )
      const lines = stderr.split('\n').filter((line) => line.includes('BOXOFFICE_LONG_HOLD'))
      assert.equal(lines.length, 2, stderr)
      assert.match(lines[0], /by the main thread$/)
      assert.match(lines[1], /by the main thread \(and 498 more like it\)$/)
    })
  }

  it('are not lost when a worker ends', async () => {
    const { shown } = await runCode(
      `const worker = new Worker(\`
        const { KeyedMutex } = require(${JSON.stringify(require.resolve('../..'))})
        const { parentPort } = require('node:worker_threads')
        const alive = setInterval(() => {}, 1e6)
        process.on('warning', ({ message }) => {
          parentPort.postMessage(message)
          clearInterval(alive)
        })
        ;(async () => { ${holdsOf(500, '{ warnAfter: 1 }')} })()\`, { eval: true })
      const said = []
      worker.on('message', (message) => said.push(message))
      await once(worker, 'exit')
      show(said)`,
    )
    assert.equal(shown[0].length, 2)
    assert.match(shown[0][1], /by thread \d+ \(and 498 more like it\)$/)
  })

  it('of different locks are told apart, up to a hundred in a second', async () => {
    const { shown } = await runCode(
      `${listen}
      const ended = several(102)
      const alive = setInterval(() => {}, 1e6)
      const all = Array.from({ length: 500 }, (_, i) => new Mutex({ name: 'user ' + i, warnAfter: 1 }))
      for (const mutex of all) await mutex.lock()
      await ended
      clearInterval(alive)
      for (const mutex of all) mutex.unlock()
      show(seen.map(({ message }) => message))`,
    )
    const [messages] = shown
    const names = messages.slice(0, 101).map((message) => /"user \d+"/.exec(message)[0])
    assert.equal(new Set(names).size, 101)
    assert.match(messages[101], /\(and 398 more like it\)$/)
  })

  it('leave no timer, listener or site behind', async () => {
    const { shown } = await runCode(
      `${listen}
      const ended = several(2)
      const before = process.listenerCount('exit')
      const alive = setInterval(() => {}, 1e6)
      ${holdsOf(3, '{ warnAfter: 1 }')}
      await ended
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
      clearInterval(alive)
      show([process.listenerCount('exit') - before, timers()])`,
    )
    // No code keeps the process alive for the second after the last warning.
    assert.deepEqual(shown, [[0, 0]])
  })

  it('go on after process.emitWarning() has thrown', async () => {
    const { shown } = await runCode(
      `${listen}
      const alive = setInterval(() => {}, 1e6)
      const { emitWarning } = process
      const thrown = new Promise((resolve) => process.once('uncaughtException', resolve))
      const waits = () => {
        const lock = new Semaphore(1)
        lock.acquire(2).catch(() => {})
        return lock
      }
      const locks = Array.from({ length: 2 }, waits) // The second warning is left out for a second.
      process.emitWarning = () => { throw new Error('mine') }
      await thrown
      process.emitWarning = emitWarning
      const ended = several(1)
      locks.push(waits())
      await ended // In its turn, not at the end of the process.
      clearInterval(alive)
      show(seen.map(({ code }) => code))`,
    )
    assert.deepEqual(shown, [['BOXOFFICE_TOO_MANY_UNITS']])
  })

  it('cost no caller its lock where process.emitWarning() throws', async () => {
    const { shown } = await runCode(
      `${listen}
      const thrown = []
      process.on('uncaughtException', ({ message }) => thrown.push(message))
      process.emitWarning = () => { throw new Error('mine') }
      const semaphore = new Semaphore(1)
      const wait = semaphore.acquire(2)
      await turn()
      semaphore.setValue(2)
      await wait
      show(thrown)`,
    )
    assert.deepEqual(shown, [['mine']])
  })

  it('all go through one limiter', () => {
    const calls = readdirSync(lib, { recursive: true })
      .filter((file) => file.endsWith('.js'))
      .filter((file) => readFileSync(path.join(lib, file), 'utf8').includes('emitWarning('))
    assert.deepEqual(calls, [path.join('core', 'warn.js')])
  })
})
