'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const boxoffice = require('../..')
const { removeDirectory, useHosts } = require('../helpers/hosts.js')
const { freshName } = require('../helpers/agents.js')
const { runCode, withoutPending } = require('../helpers/processes.js')
const { isWindows, isWine, itOnPosix, skip } = require('../helpers/skip.js')

const { ConditionVariable, KeyedMutex, Mutex, Semaphore } = boxoffice

describe('Options of locks of scope host', () => {
  const hosts = useHosts()
  const optionsOf = (options) => ({
    scope: 'host',
    name: 'input',
    directory: hosts.directory,
    ...options,
  })

  const mistakes = [
    [TypeError, { scope: 'planet' }, /scope must be .*: leave it out for one thread/],
    [TypeError, { scope: 'cluster' }, /take an engine for several machines/],
    [TypeError, { scope: 'host', name: undefined }, /needs a name/],
    [TypeError, { name: 5 }, /name must be a string/],
    [RangeError, { name: '' }, /name must not be empty/],
    [RangeError, { name: '\ud800' }, /well-formed/],
    [TypeError, { buffer: new SharedArrayBuffer(8) }, /by its name, not by a buffer/],
    [TypeError, { directory: 5 }, /directory must be a string/],
    [RangeError, { directory: 'here' }, /absolute path, not "here"/],
    [RangeError, { directory: '/a\0b' }, /absolute path/],
    [RangeError, { directory: '' }, /absolute path/],
    [TypeError, { fairness: 'some' }, /fairness/],
  ]
  for (const [Kind, options, message] of mistakes) {
    it(`${JSON.stringify(options)} throws a ${Kind.name}`, () => {
      for (const Lock of [Mutex, KeyedMutex, boxoffice.RWLock, boxoffice.KeyedRWLock]) {
        assert.throws(() => new Lock(optionsOf(options)), { name: Kind.name, message })
      }
      assert.throws(() => new boxoffice.Semaphore(1, optionsOf(options)), {
        name: Kind.name,
        message,
      })
    })
  }

  it('a relative BOXOFFICE_DIRECTORY throws a RangeError that names it', async () => {
    for (const given of ['locks', './locks', '../locks']) {
      const code = `
        for (const Lock of [Mutex, RWLock]) {
          try { new Lock({ scope: 'host', name: 'a' }); show('made') }
          catch ({ name, message }) { show(name + ': ' + message.split(':')[0]) }
        }`
      const { shown } = await runCode(code, { BOXOFFICE_DIRECTORY: given })
      const refused = `RangeError: BOXOFFICE_DIRECTORY must be an absolute path, not "${given}"`
      assert.deepEqual(shown, [refused, refused])
    }
  })

  it('a name longer than 65,536 bytes throws a RangeError for every kind of lock', () => {
    const directory = path.join(hosts.directory, 'names')
    const named = (name) => optionsOf({ directory, name })
    const kinds = [
      (name) => new Mutex(named(name)),
      (name) => new KeyedMutex(named(name)),
      (name) => new boxoffice.RWLock(named(name)),
      (name) => new boxoffice.KeyedRWLock(named(name)),
      (name) => new boxoffice.Semaphore(1, named(name)),
      (name) => new boxoffice.KeyedSemaphore(1, named(name)),
      (name) => new boxoffice.LockManager(named(name)),
    ]
    for (const make of kinds) {
      assert.throws(() => make('n'.repeat(65_537)), {
        name: 'RangeError',
        message: /at most 65536 bytes/,
      })
      // Bytes, not letters.
      assert.throws(() => make('ä'.repeat(32_769)), { name: 'RangeError', message: /not 65538/ })
    }
    new Mutex(named('ä'.repeat(32_768)))
    removeDirectory(directory)
  })

  it('a thread with more than 1,000 names warns, as where each user has a name', async function () {
    if (isWine) skip(this, 'Wine searches the whole directory for each name')
    const { code, shown } = await runCode(
      `
      process.on('warning', ({ code, message, detail }) => show([code, made, message, detail]))
      let made = 0
      while (made < 1010) {
        new Mutex({ scope: 'host', name: 'user ' + made++ })
        if (made % 100 < 3) await new Promise(setImmediate)
      }`,
      { BOXOFFICE_DIRECTORY: path.join(hosts.directory, 'many') },
    )
    assert.equal(code, 0)
    const [[warning, made, message, detail], ...others] = shown
    assert.deepEqual([warning, made, others], ['BOXOFFICE_MANY_NAMES', 1001, []])
    assert.match(message, /^more than 1000 locks of scope 'host' .* use a keyed lock, whose keys/)
    assert.match(detail, /^The last one was constructed here:\n.*at main /)
  })

  itOnPosix('a umask that removes rights of the owner has no effect', async () => {
    const directory = path.join(hosts.directory, 'umask')
    const { code, shown } = await runCode(
      `
      process.umask(0o777)
      const mutex = new Mutex({ scope: 'host', name: 'a' })
      await mutex.lock()
      show('locked')`,
      { BOXOFFICE_DIRECTORY: directory },
    )
    assert.deepEqual({ code, shown }, { code: 0, shown: ['locked'] })
    const modeOf = (file) => fs.statSync(file).mode & 0o777
    assert.equal(modeOf(directory), 0o700)
    for (const one of fs.readdirSync(directory, { recursive: true })) {
      const file = path.join(directory, one)
      assert.equal(modeOf(file), fs.statSync(file).isDirectory() ? 0o700 : 0o600, file)
    }
    fs.rmSync(directory, { recursive: true })
  })

  it('capacity is a number of keys, and only for keyed locks', () => {
    for (const capacity of [0, -1, 1.5, NaN, 2 ** 24 + 1]) {
      assert.throws(() => new KeyedMutex(optionsOf({ capacity })), RangeError)
    }
    assert.throws(() => new KeyedMutex(optionsOf({ capacity: '5' })), TypeError)
    assert.throws(() => new Mutex(optionsOf({ capacity: 5 })), /capacity is for keyed locks/)
  })

  it('locks of a process do not accept directory and capacity', () => {
    for (const options of [{ directory: '/tmp' }, { capacity: 5 }]) {
      assert.throws(() => new Mutex(options), TypeError)
      assert.throws(() => new KeyedMutex({ scope: 'process', ...options }), TypeError)
    }
  })

  it("a lock of scope 'process' needs something by which threads find it", () => {
    const message = /^a lock of scope 'process' needs a name/
    for (const make of [
      () => new Mutex({ scope: 'process' }),
      () => new Semaphore(1, { scope: 'process', shared: false }),
      () => new KeyedMutex({ scope: 'process' }),
    ]) {
      assert.throws(make, { name: 'TypeError', message })
    }
    const { buffer } = new Mutex({ scope: 'process', shared: true })
    assert.equal(new Mutex({ scope: 'process', buffer }).isLocked(), false)
    assert.equal(new Mutex({ scope: 'process', name: freshName() }).isLocked(), false)
  })

  it('buffers, and conditions of threads, are not allowed', async () => {
    const mutex = new Mutex(optionsOf())
    assert.throws(() => mutex.buffer, /shared by its name/)
    await mutex.lock()
    const condition = new ConditionVariable({ name: freshName() })
    assert.throws(() => condition.wait(mutex), { name: 'TypeError', message: /scope 'host'/ })
    mutex.unlock()
  })

  it('invalid options of a wait leave nothing locked', async () => {
    const mutex = new Mutex(optionsOf({ name: freshName() }))
    assert.throws(() => mutex.acquire({ timeout: -1 }), RangeError)
    assert.throws(() => mutex.acquire({ signal: {} }), TypeError)
    assert.throws(() => mutex.lockSync(), TypeError) // the main thread
    await assert.rejects(mutex.runExclusive(5), TypeError)
    await assert.rejects(
      mutex.runExclusive(() => {
        throw new Error('within')
      }),
      /within/,
    )
    assert.equal(mutex.isLocked(), false)
    const keyed = new KeyedMutex(optionsOf({ name: freshName() }))
    assert.throws(() => keyed.acquire({}), TypeError)
    assert.throws(() => keyed.acquire(NaN), RangeError)
    assert.equal(keyed.size, 0)
  })

  itOnPosix('a directory that other users can write to, or that is a link, is refused', () => {
    const open = path.join(hosts.directory, 'open')
    fs.mkdirSync(open)
    fs.chmodSync(open, 0o777)
    const link = path.join(hosts.directory, 'link')
    fs.symlinkSync(path.join(hosts.directory, 'target'), link)
    fs.mkdirSync(path.join(hosts.directory, 'target'), { mode: 0o700 })
    const file = path.join(hosts.directory, 'file')
    fs.writeFileSync(file, '')
    const isLink = /is a symbolic link or no directory; choose another/
    for (const [directory, why] of [
      [open, /is open to other users; choose a directory inside it/],
      [link, isLink],
      [`${link}/`, isLink],
      [`${link}/./`, isLink],
      [file, isLink],
      [path.join(open, 'none', 'locks'), /the directory above it is missing; make that first/],
    ]) {
      assert.throws(
        () => new Mutex(optionsOf({ directory })),
        (error) => {
          assert.equal(error.code, 'ERR_LOCK_SEGMENT')
          assert.match(error.message, /^the mutex "input" of this host: /)
          assert.ok(error.message.includes(path.resolve(directory)), error.message)
          assert.match(error.message, why)
          return true
        },
      )
    }
  })

  itOnPosix('a file that other users can open is refused, with the cure for a file', () => {
    const directory = path.join(hosts.directory, 'readable')
    new Mutex(optionsOf({ directory, name: 'one' }))
    const [run] = fs.readdirSync(directory)
    fs.writeFileSync(path.join(directory, run, 'mutex.two.lock'), '', { mode: 0o644 })
    assert.throws(() => new Mutex(optionsOf({ directory, name: 'two' })), {
      code: 'ERR_LOCK_SEGMENT',
      message: /two.lock is open to other users; take their rights away \(chmod go-rwx\)$/,
    })
  })

  itOnPosix(
    'a directory used by processes with another boot id is refused, and left as it is',
    async () => {
      const directory = path.join(hosts.directory, 'shared')
      const host = hosts.start({ BOXOFFICE_DIRECTORY: directory })
      const opens = `my.mutex = new boxoffice.Mutex({ scope: 'host', name: 'shared' })`
      // Its files are about to be removed.
      await host.does(`process.removeAllListeners('warning'); ${opens}; await my.mutex.lock()`)
      const [run] = fs.readdirSync(directory)
      const files = fs.readdirSync(path.join(directory, run))
      const other = 'a'.repeat(run.length)
      fs.renameSync(path.join(directory, run), path.join(directory, other))
      const open = () => new Mutex(optionsOf({ directory, name: 'shared' }))
      assert.throws(open, {
        code: 'ERR_LOCK_SEGMENT',
        message: /boot_id.*choose another directory/,
      })
      assert.deepEqual(fs.readdirSync(path.join(directory, other)), files)
      await host.dies()
      assert.equal(open().isLocked(), false)
      assert.deepEqual(fs.readdirSync(directory), [run])
    },
  )

  it('a foreign file is refused, and the error says so', () => {
    const directory = path.join(hosts.directory, 'broken')
    const names = ['empty', 'garbage', 'short']
    for (const name of names) new Mutex(optionsOf({ directory, name }))
    const files = fs.readdirSync(directory, { recursive: true, withFileTypes: true })
    const pathOf = (name) => {
      const file = files.find((one) => one.name.includes(`.${name}.`))
      return path.join(file.parentPath ?? file.path, file.name)
    }
    const before = fs.readFileSync(pathOf('short'))
    for (const [name, content] of [
      ['empty2', ''],
      ['garbage2', Buffer.alloc(before.length, 'x')],
      ['short2', before.subarray(0, 100)],
    ]) {
      const file = pathOf('short').replace('short', name)
      fs.writeFileSync(file, content, { mode: 0o600 })
      assert.throws(
        () => new Mutex(optionsOf({ directory, name })),
        (error) => {
          assert.equal(error.code, 'ERR_LOCK_SEGMENT')
          assert.ok(error.message.includes(file.replaceAll('\\', '/')), error.message)
          return true
        },
      )
    }
    if (isWindows) return
    for (const one of files.filter((file) => file.isFile())) {
      assert.equal(fs.statSync(path.join(one.parentPath ?? one.path, one.name)).mode & 0o777, 0o600)
    }
  })
})

describe('Locks of scope host and the life of a process', () => {
  const hosts = useHosts()
  const run = (code) =>
    runCode(code.replaceAll('OPTIONS', `{ scope: 'host', name: 'life' }`), {
      BOXOFFICE_DIRECTORY: hosts.directory,
    })

  it('do not keep it alive without a waiter, or while this thread holds the awaited lock', async () => {
    const { code, shown, stderr } = await run(`
      const lock = new Mutex(OPTIONS)
      const release = await lock.acquire()
      lock.acquire().then(() => show('granted'))
      show('end')`)
    assert.deepEqual(
      { code, shown, stderr: withoutPending(stderr) },
      { code: 0, shown: ['end'], stderr: '' },
    )
  })

  it('keep it alive while another process could admit a waiter', async () => {
    const host = hosts.start()
    await host.does(`my.mutex = new boxoffice.Mutex({ scope: 'host', name: 'life' })
      my.release = await my.mutex.acquire()`)
    const waiting = run(`
      const lock = new Mutex(OPTIONS)
      const release = await lock.acquire()
      show(release.abandoned)
      release()
      show('end')`)
    await host.does(`while (my.mutex.snapshot().waiterPids.length === 0) await turn()
      my.release()`)
    const { code, shown } = await waiting
    assert.deepEqual({ code, shown }, { code: 0, shown: [false, 'end'] })
  })

  it('admit a blocked thread of another process as well', async () => {
    const { code, shown } = await run(`
      const { Worker } = require('node:worker_threads')
      const lock = new Mutex(OPTIONS)
      const release = await lock.acquire()
      const worker = new Worker(\`
        const { Mutex } = require(\${JSON.stringify(${JSON.stringify(require.resolve('../..'))})})
        const lock = new Mutex(OPTIONS)
        lock.lockSync()
        lock.unlock()\`, { eval: true })
      while (lock.snapshot().waiting === 0) await turn()
      release()
      await new Promise((resolve) => worker.once('exit', resolve))
      await lock.lock()
      lock.unlock()
      show('end')`)
    assert.deepEqual({ code, shown }, { code: 0, shown: ['end'] })
  })
})
