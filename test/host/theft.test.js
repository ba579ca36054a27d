'use strict'
const assert = require('node:assert/strict')
const { LockManager } = require('../..')
const { useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')

const turn = () => new Promise(setImmediate)

describe('Theft of a lock of scope host', function () {
  // Processes are started, and one whose turn it is may not get to run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const open = (name) => new LockManager({ scope: 'host', name, directory: hosts.directory })
  const openThere = (name) =>
    `my.locks = new boxoffice.LockManager({ scope: 'host', name: ${JSON.stringify(name)} });`
  const heldBy = async (locks) => (await locks.query()).held.map(({ clientId }) => clientId)
  const aborted = (signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve(signal.reason)
      else signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
    })

  it('takes it from another process, whose signal aborts, and whose late release ends nothing', async () => {
    const name = freshName()
    const locks = open(name)
    const host = hosts.start()
    const robbed = await locks.acquire('a')
    assert.equal(robbed.signal.aborted, false)
    await host.does(`${openThere(name)} my.held = await my.locks.acquire('a', { steal: true })`)
    const reason = await within(30_000, aborted(robbed.signal))
    assert.equal(reason.name, 'AbortError')
    assert.match(reason.message, /"a".*stolen/)
    assert.equal(robbed.fencingToken, undefined)
    robbed()
    assert.deepEqual(await heldBy(locks), [`node-${host.pid}`])
    assert.equal(await locks.acquire('a', { ifAvailable: true }), undefined)
    assert.equal(typeof (await host.does('my.held(); return my.held.abandoned')), 'boolean')
    const again = await within(30_000, locks.acquire('a'))
    robbed()
    assert.equal(
      await host.does(`return my.locks.request('a', { ifAvailable: true }, (lock) => lock)`),
      null,
    )
    again()
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })

  it('rejects the promise of a request, and what it does goes on', async () => {
    const name = freshName()
    const locks = open(name)
    const host = hosts.start()
    let finish
    const steps = []
    const mine = locks.request('a', async () => {
      await new Promise((resolve) => {
        finish = resolve
      })
      steps.push('went on')
    })
    const rejected = assert.rejects(mine, { name: 'AbortError' })
    while (finish === undefined) await turn()
    await host.does(`${openThere(name)} my.held = await my.locks.acquire('a', { steal: true })`)
    await within(30_000, rejected)
    finish()
    await turn()
    assert.deepEqual(steps, ['went on'])
    assert.deepEqual(await heldBy(locks), [`node-${host.pid}`])
    await host.does('my.held()')
  })

  it('takes it from all readers, and those who wait keep waiting', async () => {
    const name = freshName()
    const locks = open(name)
    const host = hosts.start()
    const mine = [
      await locks.acquire('a', { mode: 'shared' }),
      await locks.acquire('a', { mode: 'shared' }),
    ]
    await host.does(`${openThere(name)} my.held = await my.locks.acquire('a', { mode: 'shared' })`)
    const steps = []
    const next = locks.acquire('a').then((held) => {
      steps.push('next')
      return held
    })
    while ((await locks.query()).pending.length === 0) await turn()
    const thief = await hosts
      .start()
      .does(
        `${openThere(name)} my.held = await my.locks.acquire('a', { steal: true }); my.end = () => my.held(); return process.pid`,
      )
    for (const { signal } of mine) await within(30_000, aborted(signal))
    assert.equal(
      await host.does(
        `while (!my.held.signal.aborted) await turn(); return my.held.signal.reason.name`,
      ),
      'AbortError',
    )
    for (const release of mine) release()
    await host.does('my.held()')
    assert.deepEqual(await heldBy(locks), [`node-${thief}`])
    assert.deepEqual(steps, [])
    process.kill(thief, 'SIGKILL')
    const held = await within(30_000, next)
    assert.equal(held.abandoned, true)
    held()
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })

  it('takes it within a process, and from the thief', async () => {
    const locks = open(freshName())
    const first = await locks.acquire('a')
    const second = await locks.acquire('a', { steal: true })
    const third = await locks.acquire('a', { steal: true })
    assert.equal((await within(30_000, aborted(first.signal))).name, 'AbortError')
    await within(30_000, aborted(second.signal))
    first()
    second()
    assert.equal(third.signal.aborted, false)
    assert.equal(typeof third.fencingToken, 'bigint')
    assert.equal((await locks.query()).held.length, 1)
    third()
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })

  it('does not wait for a process that stands still, which hears of it later', async () => {
    const name = freshName()
    const locks = open(name)
    const host = hosts.start()
    await host.does(`${openThere(name)} my.held = await my.locks.acquire('a'); my.held.signal`)
    process.kill(host.pid, 'SIGSTOP')
    const held = await within(30_000, locks.acquire('a', { steal: true }))
    held()
    const other = await within(30_000, locks.acquire('a'))
    process.kill(host.pid, 'SIGCONT')
    await host.does('while (!my.held.signal.aborted) await turn(); my.held()')
    assert.equal(other.signal.aborted, false)
    assert.deepEqual(await heldBy(locks), [`node-${process.pid}`])
    other()
  })

  const inWorker = (code) => `
    const { Worker } = require('node:worker_threads')
    my.worker = new Worker(\`
      const { parentPort } = require('node:worker_threads')
      const { LockManager } = require(\${JSON.stringify(${JSON.stringify(require.resolve('../..'))})});
      (async () => { ${code} })()
    \`, { eval: true });
    my.said = []
    my.worker.on('message', (said) => my.said.push(said))
    my.hears = async (word) => { while (!my.said.includes(word)) await turn() };`

  it('reaches threads, and what a robbed one leaves when it ends is not taken from others', async () => {
    const name = freshName()
    const locks = open(name)
    const host = hosts.start()
    const options = JSON.stringify({ scope: 'host', name, directory: hosts.directory })
    await host.does(`${openThere(name)} ${inWorker(`
      const locks = new LockManager(${options})
      const held = await locks.acquire('a', { mode: 'shared' })
      held.signal.addEventListener('abort', () => parentPort.postMessage('robbed'))
      parentPort.on('message', () => {})
      parentPort.postMessage('holds')`)}
      await my.hears('holds')`)
    const thief = await locks.acquire('a', { steal: true })
    await within(30_000, host.does(`await my.hears('robbed')`))
    thief()
    await host.does(`my.held = await my.locks.acquire('a', { mode: 'shared' })
      await my.worker.terminate()`)
    assert.deepEqual(await heldBy(locks), [`node-${host.pid}`])
    assert.equal(await locks.acquire('a', { ifAvailable: true }), undefined)
    await host.does('my.held()')
    const held = await within(30_000, locks.acquire('a'))
    held()
  })

  it('leaves nobody waiting, however many steal', async () => {
    const name = freshName()
    const locks = open(name)
    const loops = `${openThere(name)}
      let robbed = 0
      const loop = async (seed) => {
        for (let i = 0; i < 60; i++) {
          const kind = (seed * 7 + i * 5) % 6
          const steal = kind === 0
          const mode = kind > 3 ? 'shared' : 'exclusive'
          try {
            const held = await my.locks.acquire('abc'[i % 3], { steal, mode })
            const token = held.fencingToken
            if (token !== undefined && typeof token !== 'bigint') throw new Error('no token')
            await turn()
            if (held.signal.aborted) robbed++
            held()
          } catch (error) {
            if (error.name !== 'AbortError') throw error
            robbed++
          }
        }
      }
      await Promise.all([1, 2, 3, 4].map(loop))
      return robbed`
    const all = await within(
      60_000,
      Promise.all([hosts.start(), hosts.start(), hosts.start()].map((host) => host.does(loops))),
    )
    assert.ok(all.some((robbed) => robbed > 0))
    assert.deepEqual(await locks.query(), { held: [], pending: [] })
  })
})
