'use strict'
// What scope host promises on Windows beyond the other systems.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { Mutex } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')
const { isWindows, skip } = require('../helpers/skip.js')

describe('Scope host on Windows', function () {
  this.timeout(60_000)
  before(function () {
    if (!isWindows) skip(this, 'it is about Windows')
  })
  const hosts = useHosts()

  it('keeps its files from being removed while a process uses them', async () => {
    const name = freshName()
    const host = hosts.start()
    await host.does(`my.mutex = new boxoffice.Mutex({ scope: 'host', name: '${name}' })
      my.release = await my.mutex.acquire()`)
    const mutex = new Mutex({ scope: 'host', name, directory: hosts.directory })
    const waiting = mutex.acquire()
    const [run] = fs.readdirSync(hosts.directory)
    const folder = path.join(hosts.directory, run)
    const files = fs.readdirSync(folder)
    assert.ok(files.includes('members') && files.includes('fifo-2'), `${files}`)
    for (const file of files) {
      assert.throws(() => fs.rmSync(path.join(folder, file)), /EBUSY|EPERM/, file)
    }
    const elsewhere = path.join(folder, 'elsewhere')
    assert.throws(() => fs.renameSync(path.join(folder, 'fifo-1'), elsewhere), /EBUSY|EPERM/)
    await host.does('my.release()')
    const release = await waiting
    release()
    assert.equal(release.abandoned, false)
  })

  it('takes a directory with / or \\ between its parts, and with or without one at its end', async () => {
    const name = freshName()
    const directory = path.join(hosts.directory, 'parts')
    const forms = [directory, `${directory}\\`, directory.replaceAll('\\', '/'), `${directory}/`]
    const all = forms.map((form) => new Mutex({ scope: 'host', name, directory: form }))
    const release = await all[0].acquire()
    for (const mutex of all) assert.equal(mutex.isLocked(), true)
    release()
  })

  it('knows more processes than Windows waits for at once', async () => {
    const name = freshName()
    const all = Array.from({ length: 40 }, () => hosts.start())
    const options = `{ scope: 'host', name: '${name}' }`
    await Promise.all(all.map((one) => one.does(`my.mutex = new boxoffice.Mutex(${options})`)))
    const mutex = new Mutex({ scope: 'host', name, directory: hosts.directory })
    // The process that others have learned of last dies while it holds the lock.
    await all.at(-1).does('await my.mutex.lock()')
    const waiting = [mutex.acquire(), all[0].does('return (await my.mutex.acquire()).abandoned')]
    await all.at(-1).dies()
    const release = await waiting[0]
    release()
    assert.equal(release.abandoned, true)
    assert.equal(await waiting[1], false)
  })
})
