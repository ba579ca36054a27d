'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { within } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')
const { onlyOnPosix, skip } = require('../helpers/skip.js')

/** A user without rights, as that of many servers. */
const stranger = 65534

describe('A process that loses its rights to the files of scope host', function () {
  onlyOnPosix()
  this.timeout(60_000)
  const hosts = useHosts()
  let directory
  let last = 0

  before(function () {
    if (process.getuid() !== 0) skip(this, 'only root can give up its rights')
    fs.chmodSync(hosts.directory, 0o755)
  })

  beforeEach(() => {
    directory = path.join(hosts.directory, `place-${++last}`)
    fs.mkdirSync(directory)
  })

  const begin = `
    my.warnings = []
    process.removeAllListeners('warning').on('warning', (warning) => my.warnings.push(warning))
    my.codeOf = (promise) => promise.then(({ abandoned }) => abandoned ? 'abandoned' : 'granted', (error) => error.code)
    my.lock = new boxoffice.Mutex({ scope: 'host', name: 'a' })
    my.other = new boxoffice.Mutex({ scope: 'host', name: 'b' })`
  const drop = `process.setgid(${stranger}); process.setuid(${stranger})`

  async function start(id) {
    const env = { BOXOFFICE_DIRECTORY: directory }
    const host = id === undefined ? hosts.start(env) : hosts.startAs(id, env)
    await host.does(begin)
    return host
  }
  const isAwaited = 'while (my.lock.snapshot().waiterPids.length === 0) await turn()'
  const outcome = (host) => within(30_000, host.does('return my.wait'))
  const warningOf = (host) =>
    within(
      30_000,
      host.does(`
        while (my.warnings.length === 0) await turn()
        return my.warnings.map(({ code, message, detail }) => ({ code, text: message + detail }))`),
    )

  it('takes no lock from others, and is told with its uid and euid', async () => {
    const holder = await start()
    await holder.does('my.release = await my.lock.acquire()')
    const dropped = await start()
    await dropped.does(drop)
    const third = await start()
    await third.does('my.wait = my.codeOf(my.lock.acquire())')
    await holder.does(isAwaited)
    const refused = await within(
      30_000,
      dropped.does(`
        for (;;) {
          try { await my.other.acquire({ timeout: 0 }).then((release) => release()) }
          catch ({ code, message }) { return { code, message } }
          await turn()
        }`),
    )
    assert.equal(refused.code, 'ERR_LOCK_SEGMENT')
    assert.match(refused.message, /Permission denied, with uid 65534 and euid 65534.*setuid/)
    await holder.does('my.release()')
    assert.equal(await outcome(third), 'granted')
    const anew = `return codeOf(() => new boxoffice.Mutex({ scope: 'host', name: 'c' }))`
    assert.equal(await dropped.does(anew), 'ERR_LOCK_SEGMENT')
    assert.equal(await third.does(anew), undefined)
    for (const host of [holder, dropped, third]) {
      assert.deepEqual(await host.does('return my.warnings'), [])
    }
  })

  it('keeps what it holds, and its release wakes a process that it may not open', async () => {
    const dropped = await start()
    await dropped.does(`my.release = await my.lock.acquire(); ${drop}`)
    const next = await start()
    await next.does('my.wait = my.codeOf(my.lock.acquire())')
    const [{ code, text }] = await warningOf(dropped)
    assert.equal(code, 'ERR_LOCK_SEGMENT')
    assert.match(text, /uid 65534.*can only release it/s)
    await dropped.does(isAwaited)
    assert.equal(await next.does('return my.lock.isLocked()'), true)
    await dropped.does('my.release()')
    assert.equal(await outcome(next), 'granted')
    // Again, now that the next process has slept once more.
    const last = await start()
    await last.does('my.wait = my.codeOf(my.lock.acquire({ timeout: 200 }))')
    assert.equal(await outcome(last), 'ERR_LOCK_TIMEOUT')
  })

  it('passes on what it held when it dies', async () => {
    const dropped = await start()
    await dropped.does(`await my.lock.acquire(); ${drop}`)
    const next = await start()
    await next.does('my.wait = my.codeOf(my.lock.acquire())')
    await dropped.does(isAwaited)
    await dropped.dies()
    assert.equal(await outcome(next), 'abandoned')
  })

  it('leaves the death of a holder to the others', async () => {
    const holder = await start()
    await holder.does('await my.lock.acquire()')
    const [dropped, next] = [await start(), await start()]
    // It may still be handed the lock, and then passes it on.
    await dropped.does(`
      my.wait = my.codeOf(my.lock.acquire().then((release) => (release(), release))); ${drop}`)
    await next.does('my.wait = my.codeOf(my.lock.acquire())')
    await holder.does('while (my.lock.snapshot().waiterPids.length < 2) await turn()')
    await holder.dies()
    assert.match(await outcome(dropped), /^(abandoned|ERR_LOCK_SEGMENT)$/)
    assert.match(await outcome(next), /^(abandoned|granted)$/)
    assert.deepEqual(await next.does('return my.warnings'), [])
  })

  it('leaves the death of a holder to the process that comes next', async () => {
    const holder = await start()
    await holder.does('await my.lock.acquire()')
    const dropped = await start()
    await dropped.does(`
      my.release = await my.other.acquire()
      my.wait = my.codeOf(my.lock.acquire())
      ${drop}`)
    await holder.does(isAwaited)
    await holder.dies()
    assert.equal(await outcome(dropped), 'ERR_LOCK_SEGMENT')
    assert.match((await warningOf(dropped))[0].text, /uid 65534.*can only release it/s)
    const next = await start()
    await next.does('my.wait = my.codeOf(my.lock.acquire())')
    assert.equal(await outcome(next), 'abandoned')
    await next.does('my.wait = my.codeOf(my.other.acquire())')
    await dropped.does('my.release()')
    assert.equal(await outcome(next), 'granted')
  })

  for (const which of ['directory', 'directory of the boot']) {
    it(`leaves others alone after a chmod of the ${which}`, async () => {
      fs.chownSync(directory, stranger, stranger)
      const holder = await start(stranger)
      const run = path.join(directory, fs.readdirSync(directory)[0])
      await holder.does('await my.lock.acquire()')
      const next = await start(stranger)
      await next.does('my.wait = my.codeOf(my.lock.acquire())')
      await holder.does(isAwaited)
      const changed = which === 'directory' ? directory : run
      fs.chmodSync(changed, 0)
      await holder.dies()
      assert.match(await outcome(next), /^(abandoned|ERR_LOCK_SEGMENT)$/)
      fs.chmodSync(changed, 0o700)
      const newcomer = await start(stranger)
      await newcomer.does('my.wait = my.codeOf(my.other.acquire())')
      assert.equal(await outcome(newcomer), 'granted')
    })
  }

  it('cleans up after a death in a file that is open to others by now', async () => {
    const cleaner = hosts.start({ BOXOFFICE_DIRECTORY: directory })
    await cleaner.does(`${begin.slice(0, begin.indexOf('my.lock ='))}
      my.other = new boxoffice.Mutex({ scope: 'host', name: 'b' })`)
    const [holder, next] = [await start(), await start()]
    await holder.does('await my.lock.acquire(); await my.other.acquire()')
    await next.does('my.wait = my.codeOf(my.lock.acquire())')
    await holder.does(isAwaited)
    await cleaner.does('my.wait = my.codeOf(my.other.acquire())')
    fs.chmodSync(path.join(directory, fs.readdirSync(directory)[0], 'mutex.a.lock'), 0o644)
    await next.stops()
    await holder.dies()
    assert.equal(await outcome(cleaner), 'abandoned')
    next.child.kill('SIGCONT')
    assert.equal(await outcome(next), 'abandoned')
  })

  it('leaves others alone after a chown of the directory', async () => {
    const holder = await start()
    await holder.does('await my.lock.acquire()')
    const next = await start()
    await next.does('my.wait = my.codeOf(my.lock.acquire())')
    await holder.does(isAwaited)
    const run = path.join(directory, fs.readdirSync(directory)[0])
    for (const each of [directory, run]) fs.chownSync(each, stranger, stranger)
    await holder.dies()
    assert.equal(await outcome(next), 'abandoned')
    for (const each of [directory, run]) fs.chownSync(each, 0, 0)
    const newcomer = await start()
    await newcomer.does('my.wait = my.codeOf(my.other.acquire())')
    assert.equal(await outcome(newcomer), 'granted')
  })
})
