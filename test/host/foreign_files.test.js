'use strict'
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { KeyedMutex, Mutex } = require('../..')
const { useHosts } = require('../helpers/hosts.js')
const { itOnPosix } = require('../helpers/skip.js')

const content = 'not a file of boxoffice'
/** Named like the directory of a boot, as the sub-directories of many caches are. */
const md5 = '0cc175b9c0f1b6a831c399e269772661'
const former = 'f'.repeat(32)

/** Every file below the directory, with its content or its kind. */
function filesIn(directory) {
  const found = {}
  for (const one of fs.readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(one.parentPath ?? one.path, one.name)
    const name = path.relative(directory, file)
    if (one.isFile()) found[name] = fs.readFileSync(file, 'latin1')
    else found[name] = one.isSymbolicLink() ? `link to ${fs.readlinkSync(file)}` : 'no file'
  }
  return found
}

describe('Files of others in the directory of locks of scope host', function () {
  this.timeout(60_000)
  const hosts = useHosts()
  let last = 0

  function makePlace() {
    const directory = path.join(hosts.directory, `place-${++last}`)
    fs.mkdirSync(directory)
    return directory
  }

  const open = (directory) => new Mutex({ scope: 'host', name: 'foreign', directory })

  /** Puts files with these names there. */
  function put(directory, names) {
    fs.mkdirSync(directory, { recursive: true })
    for (const name of names) fs.writeFileSync(path.join(directory, name), content, { mode: 0o600 })
  }

  /** Makes the files of a former boot, in which a process was killed. Returns their directory. */
  async function makeFormerRun(directory) {
    const host = hosts.start({ BOXOFFICE_DIRECTORY: directory })
    await host.does(`
      await new boxoffice.Mutex({ scope: 'host', name: 'a' }).lock()
      await new boxoffice.KeyedSemaphore(3, { scope: 'host', name: 'ä'.repeat(200) }).acquire('key')
      new boxoffice.Barrier(2, { scope: 'host', name: 'a' })`)
    await host.dies()
    const [run] = fs.readdirSync(directory)
    fs.renameSync(path.join(directory, run), path.join(directory, former))
    return path.join(directory, former)
  }

  itOnPosix('a directory that is named like one of a former boot keeps its files', () => {
    const directory = makePlace()
    const own = path.join(directory, md5)
    put(own, ['photo.jpg', 'mutex.a.lock', 'fifo-1', 'new-1', 'members.new-1-1'])
    put(path.join(own, 'more'), ['photo.jpg'])
    execFileSync('mkfifo', [path.join(own, 'fifo-2')])
    fs.mkdirSync(path.join(directory, 'd41d8cd98f00b204e9800998ecf8427e'))
    const before = filesIn(directory)
    open(directory)
    const after = filesIn(directory)
    for (const name of Object.keys(before)) assert.equal(after[name], before[name], name)
  })

  it('a members file of another program is no mark', () => {
    const directory = makePlace()
    for (const [n, bytes] of ['', 'oxofice', 'xoxofice1', `${content}oxofice1`].entries()) {
      const own = path.join(directory, String(n).repeat(32))
      put(own, ['photo.jpg'])
      fs.writeFileSync(path.join(own, 'members'), bytes, { mode: 0o600 })
    }
    const before = filesIn(directory)
    open(directory)
    const after = filesIn(directory)
    for (const name of Object.keys(before)) assert.equal(after[name], before[name], name)
  })

  itOnPosix(
    'a members file that is a link, has a second name, or is open to others is no mark',
    async () => {
      const ways = {
        link: (members, aside) => {
          fs.renameSync(members, aside)
          fs.symlinkSync(aside, members)
        },
        'second name': (members, aside) => fs.linkSync(members, aside),
        'open to others': (members) => fs.chmodSync(members, 0o644),
      }
      for (const [way, change] of Object.entries(ways)) {
        const directory = makePlace()
        const own = await makeFormerRun(directory)
        put(own, ['photo.jpg'])
        change(path.join(own, 'members'), path.join(directory, 'aside'))
        const before = fs.readdirSync(own)
        open(directory)
        assert.deepEqual(fs.readdirSync(own), before, way)
      }
    },
  )

  it('the files of a former boot go, and those of others among them stay', async () => {
    const directory = makePlace()
    const own = await makeFormerRun(directory)
    const names = [
      'photo.jpg',
      'members.old',
      'members.new-',
      'members.new-1-copy',
      'fifo-0',
      'fifo-128',
      'fifo-01',
      'fifo-1.txt',
      'new-photo',
      'life-fifo-x',
      'mutex.lock',
      'mutex..lock',
      'mutex.my notes.lock',
      'yarn.a.lock',
      'mutex.a.lock.bak',
    ]
    put(own, names)
    put(path.join(own, 'mutex.folder.lock'), ['photo.jpg'])
    put(directory, ['photo.jpg'])
    open(directory)
    assert.deepEqual(fs.readdirSync(own).sort(), [...names, 'mutex.folder.lock'].sort())
    assert.equal(fs.readFileSync(path.join(directory, 'photo.jpg'), 'latin1'), content)
    // It carries the mark no more, so that the next process does not look into it again.
    put(own, ['mutex.b.lock'])
    const child = hosts.start({ BOXOFFICE_DIRECTORY: directory })
    await child.does(`new boxoffice.Mutex({ scope: 'host', name: 'foreign' })`)
    assert.ok(fs.existsSync(path.join(own, 'mutex.b.lock')))
  })

  it('the directory of a former boot goes when no other file is in it', async () => {
    const directory = makePlace()
    const own = await makeFormerRun(directory)
    open(directory)
    assert.equal(fs.existsSync(own), false)
  })

  it('processes that start at once after a boot remove the files, and none is refused', async () => {
    const directory = makePlace()
    const started = Array.from({ length: 4 }, () => hosts.start({ BOXOFFICE_DIRECTORY: directory }))
    await Promise.all(started.map((one) => one.does('')))
    const own = await makeFormerRun(directory)
    const opens = `return codeOf(() => new boxoffice.Mutex({ scope: 'host', name: 'foreign' }))`
    const codes = await Promise.all(started.map((one) => one.does(opens)))
    assert.deepEqual(codes, Array(4).fill(undefined))
    assert.equal(fs.existsSync(own), false)
  })

  itOnPosix(
    'the holder of a lock keeps it when a process dies that uses a directory with a link to it',
    async () => {
      const [place, other] = [makePlace(), makePlace()]
      const start = async (directory, name) => {
        const host = hosts.start({ BOXOFFICE_DIRECTORY: directory })
        await host.does(`my.lock = new boxoffice.Mutex({ scope: 'host', name: '${name}' })`)
        return host
      }
      const [waiter, holder] = [await start(place, 'a'), await start(place, 'a')]
      const [cleaner, victim] = [await start(other, 'b'), await start(other, 'b')]
      for (const one of [holder, victim]) await one.does('await my.lock.acquire()')
      const file = (directory) => path.join(directory, fs.readdirSync(directory)[0], 'mutex.a.lock')
      fs.linkSync(file(place), file(other))
      const isCleaned = cleaner.does('await my.lock.acquire(); setImmediate(() => process.exit())')
      await victim.dies()
      await isCleaned
      await cleaner.ends() // after it has cleaned up in all files
      assert.equal(await waiter.does('return my.lock.tryAcquire()?.abandoned'), undefined)
    },
  )

  it('the files of others beside those in use stay, whatever joins, grows, dies and leaves', async () => {
    const directory = makePlace()
    open(directory)
    const run = path.join(directory, fs.readdirSync(directory)[0])
    put(run, ['photo.jpg', 'members.old', 'members.new-mine', 'new-photo', 'fifo-x', 'mutex.lock'])
    put(directory, ['photo.jpg', 'members', 'new-1'])
    const before = filesIn(directory)
    const locks = new KeyedMutex({ scope: 'host', name: 'foreign', directory, capacity: 20_000 })
    const [holder, next] = [0, 0].map(() => hosts.start({ BOXOFFICE_DIRECTORY: directory }))
    const make = `my.lock = new boxoffice.KeyedMutex({ scope: 'host', name: 'foreign' })`
    await holder.does(`${make}
      await new boxoffice.RWLock({ scope: 'host', name: 'another' }).acquireWrite()
      for (let key = 0; key < 3000; key++) my.lock.tryAcquire(key)`)
    const releases = Array.from({ length: 3000 }, (_, key) => locks.acquire(key))
    await next.does(`${make}; my.wait = my.lock.acquire('key')`)
    await holder.dies()
    for (const release of await Promise.all(releases)) release()
    await next.dies('SIGTERM')
    const after = filesIn(directory)
    for (const name of Object.keys(before)) {
      if (before[name] === content) assert.equal(after[name], content, name)
    }
  })
})
