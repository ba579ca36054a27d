'use strict'
const assert = require('node:assert/strict')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { Mutex } = require('../..')
const { freshName, within } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')
const { onlyOnPosix, skip } = require('../helpers/skip.js')

describe('A process without free file descriptors', function () {
  onlyOnPosix()
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  const few = {
    execPath: '/bin/sh',
    execArgv: ['-c', `ulimit -n 64 && exec "${process.execPath}" "$0"`],
  }
  const open = (name) =>
    `my.mutex = new boxoffice.Mutex({ scope: 'host', name: ${JSON.stringify(name)} });`
  const takeAll = `
    const { openSync } = require('node:fs')
    my.all = []
    try { for (;;) my.all.push(openSync('/dev/null')) }
    catch (error) { if (error.code !== 'EMFILE') throw error }`
  const leave = (count) =>
    `for (const one of my.all.splice(-${count}, ${count})) require('node:fs').closeSync(one)`
  const giveBack = `for (const one of my.all.splice(0)) require('node:fs').closeSync(one)`

  for (const left of [0, 1, 2, 3]) {
    it(`hears of a death, with ${left} left`, async () => {
      const [holder, other] = [hosts.start(), hosts.start({}, few)]
      const name = freshName()
      await holder.does(`${open(name)} await my.mutex.lock()`)
      await other.does(`${open(name)} my.next = my.mutex.acquire(); ${takeAll}`)
      await holder.does('while (my.mutex.snapshot().waiterPids.length === 0) await turn()')
      await other.does(leave(left))
      await holder.dies()
      assert.equal(await within(30_000, other.does('return (await my.next).abandoned')), true)
    })

    it(`wakes a process that has started meanwhile, with ${left} left`, async () => {
      const holder = hosts.start({}, few)
      const name = freshName()
      await holder.does(`${open(name)} await my.mutex.lock(); ${takeAll}; ${leave(left)}`)
      const next = hosts.start()
      await next.does(`${open(name)} my.next = my.mutex.acquire()`)
      await holder.does(`while (my.mutex.snapshot().waiterPids.length === 0) await turn()
        my.mutex.unlock()`)
      await within(30_000, next.does('await my.next'))
    })
  }

  it('learns of a death as soon as it has descriptors again', async () => {
    const [holder, other] = [hosts.start(), hosts.start({}, few)]
    const name = freshName()
    await holder.does(`${open(name)} await my.mutex.lock()`)
    await other.does(`${open(name)} my.next = my.mutex.acquire(); ${takeAll}`)
    await holder.dies()
    // By now its wake-up thread has noticed the death, but could not handle it.
    await new Promise((resolve) => setTimeout(resolve, 200))
    await other.does(giveBack)
    assert.equal(await within(30_000, other.does('return (await my.next).abandoned')), true)
  })

  it('hears that the file of its lock was removed', async () => {
    const directory = fs.mkdtempSync(path.join(hosts.directory, 'removed-'))
    const holder = hosts.start({ BOXOFFICE_DIRECTORY: directory }, few)
    await holder.does(`
      my.warned = new Promise((resolve) => process.removeAllListeners('warning').on('warning', resolve))
      ${open(freshName())} await my.mutex.lock(); ${takeAll}`)
    const run = path.join(directory, fs.readdirSync(directory)[0])
    fs.rmSync(
      path.join(
        run,
        fs.readdirSync(run).find((file) => file.endsWith('.lock')),
      ),
    )
    const warned = holder.does(`return (await my.warned).code`)
    assert.equal(await within(10_000, warned), 'ERR_LOCK_SEGMENT')
  })

  it('admits a process that has started meanwhile', async () => {
    const holder = hosts.start({}, few)
    const name = freshName()
    await holder.does(`${open(name)} await my.mutex.lock(); ${takeAll}`)
    const mutex = new Mutex({ scope: 'host', name, directory: hosts.directory })
    const next = mutex.acquire()
    await holder.does(`while (my.mutex.snapshot().waiterPids.length === 0) await turn()
      my.mutex.unlock()`)
    await holder.does(giveBack)
    const release = await within(30_000, next)
    release()
  })

  it('reports the lack when it opens a lock', async () => {
    const one = hosts.start({}, few)
    const name = freshName()
    // The first lock loads the code of scope host, which needs descriptors.
    await one.does(open(freshName()))
    await one.does(takeAll)
    assert.equal(await one.does(`return codeOf(() => {${open(name)}})`), 'ERR_LOCK_SEGMENT')
    await one.does(`${giveBack}; ${open(name)} await my.mutex.lock()`)
  })

  it('reports the lack in its first lock of a directory, however many are left', async () => {
    const one = hosts.start({}, few)
    await one.does(open(freshName()))
    await one.does(takeAll)
    const directory = fs.mkdtempSync(path.join(hosts.directory, 'another-'))
    const options = JSON.stringify({ scope: 'host', name: freshName(), directory })
    const codes = await one.does(`
      const codes = []
      for (let left = 0; left < 12; left++) {
        codes.push(await codeOf(() => { new boxoffice.Mutex(${options}) }))
        ${leave(1)}
      }
      return codes`)
    assert.equal(codes[0], 'ERR_LOCK_SEGMENT')
    assert.equal(codes.at(-1), undefined)
    for (const code of codes) assert.match(code ?? '', /^(ERR_LOCK_SEGMENT)?$/)
  })
})

describe('A process at its limit of threads', function () {
  onlyOnPosix()
  this.timeout(60_000)
  const hosts = useHosts()

  it('gets the error with its first lock of scope host, and a lock later', async function () {
    if (spawnSync('prlimit', ['--version']).error !== undefined) skip(this, 'it needs prlimit')
    const directory = fs.mkdtempSync(path.join(hosts.directory, 'threads-'))
    // The limit does not apply to root.
    const isRoot = process.getuid() === 0
    const as = isRoot ? { uid: 65534, gid: 65534 } : {}
    if (isRoot) fs.chownSync(directory, as.uid, as.gid)
    const env = { BOXOFFICE_DIRECTORY: directory }
    const one = isRoot ? hosts.startAs(as.uid, env) : hosts.start(env)
    // Loads the code, and starts the threads of Node.js.
    await one.does(`await require('node:fs').promises.readdir('/')`)
    const prlimit = (...options) =>
      execFileSync('prlimit', ['--pid', one.pid, ...options], { ...as, encoding: 'utf8' })
    const limit = (count) => prlimit(`--nproc=${count}:`)
    const before = prlimit('--nproc', '-o', 'SOFT', '--noheadings').trim()
    limit(1)
    const open = `new boxoffice.Mutex({ scope: 'host', name: 'threads' })`
    const { code, message } = await one.does(`
      try { ${open} } catch ({ code, message }) { return { code, message } }`)
    assert.equal(code, 'ERR_LOCK_SEGMENT')
    assert.match(message, /^the mutex "threads" of this host: .*no thread: .*; raise its limit/)
    limit(before)
    await one.does(`await ${open}.lock()`)
  })
})
