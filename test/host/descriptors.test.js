'use strict'
const assert = require('node:assert/strict')
const { Mutex } = require('../..')
const { freshName, within } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')

describe('A process without free file descriptors', function () {
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
  const giveBack = `for (const one of my.all.splice(0)) require('node:fs').closeSync(one)`

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
})
