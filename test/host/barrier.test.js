'use strict'
// Barriers of scope host.
const assert = require('node:assert/strict')
const { Barrier } = require('../..')
const { useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')
const { itOnPosix } = require('../helpers/skip.js')

const soon = (promise) => within(30_000, promise)

describe('A Barrier of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()

  const open = (parties, name) =>
    new Barrier(parties, { scope: 'host', name, directory: hosts.directory })
  /** Code that opens the barrier in another process, as `my.gate`. */
  const there = (parties, name) =>
    `my.gate = new boxoffice.Barrier(${parties}, { scope: 'host', name: ${JSON.stringify(name)}, allowBlockingMainThread: true });`
  /** Two processes and one name. */
  async function both(parties) {
    const name = freshName()
    const gate = open(parties, name)
    const host = hosts.start()
    await host.does(there(parties, name))
    return { gate, host, name }
  }
  const waits = 'my.wait = my.gate.wait({ timeout: 60_000 }); my.wait.catch(() => {});'

  it('lets parties of several processes go on together, round after round', async () => {
    const { gate, host } = await both(3)
    for (let round = 0; round < 20; round++) {
      const here = gate.wait()
      const missing = [here, host.does('return my.gate.wait()'), host.does('return my.gate.wait()')]
      assert.deepEqual(new Set(await soon(Promise.all(missing))), new Set([0, 1, 2]))
    }
    assert.equal(gate.waiting, 0)
    assert.equal(gate.parties, 3)
  })

  it('blocks threads', async () => {
    const { gate, host } = await both(2)
    const blocked = host.does('return my.gate.waitSync()')
    const here = await soon(gate.wait())
    assert.equal(here + (await soon(blocked)), 1)
    assert.equal(
      await host.does('return codeOf(() => my.gate.waitSync({ timeout: 5 }))'),
      'ERR_LOCK_TIMEOUT',
    )
    assert.equal(gate.isBroken(), true)
  })

  for (const [how, end] of [
    ['times out', 'my.gate.wait({ timeout: 5 }).catch(() => {})'],
    ['is aborted', 'my.gate.wait({ signal: AbortSignal.timeout(5) }).catch(() => {})'],
    ['has an aborted signal', 'my.gate.wait({ signal: AbortSignal.abort() }).catch(() => {})'],
    ['breaks it', 'my.gate.break()'],
    ['resets it', 'my.gate.reset()'],
  ]) {
    it(`a party that ${how} breaks it for the parties of other processes`, async () => {
      const { gate, host } = await both(3)
      const waiting = gate.wait()
      waiting.catch(() => {}) // it may be rejected before its reader comes
      await host.does(end)
      await assert.rejects(soon(waiting), { code: 'ERR_LOCK_BROKEN' })
      if (how !== 'resets it') {
        assert.equal(gate.isBroken(), true)
        await assert.rejects(gate.wait(), { code: 'ERR_LOCK_BROKEN' })
        gate.reset()
      }
      assert.equal(await host.does('return my.gate.isBroken()'), false)
      const again = gate.wait()
      await host.does('my.more = [my.gate.wait(), my.gate.wait()]; await Promise.all(my.more)')
      assert.equal(await soon(again), 2)
    })
  }

  it('a party that is killed while it waits breaks it', async () => {
    const { gate, host } = await both(3)
    await host.does(waits)
    const waiting = gate.wait()
    waiting.catch(() => {})
    assert.equal(gate.waiting, 2)
    await host.dies()
    await assert.rejects(soon(waiting), { code: 'ERR_LOCK_BROKEN' })
    assert.equal(gate.isBroken(), true)
  })

  itOnPosix('a party that is killed after its round breaks nothing', async () => {
    const { gate, host, name } = await both(2)
    await host.does(waits)
    await host.stops()
    assert.equal(await soon(gate.wait()), 0)
    const waiting = gate.wait()
    await host.dies()
    const other = hosts.start()
    await other.does(there(2, name))
    assert.equal(await soon(other.does('return my.gate.wait()')), 0)
    assert.equal(await soon(waiting), 1)
  })

  it('must have as many parties everywhere', async () => {
    const { name } = await both(2)
    assert.throws(() => open(3, name), {
      code: 'ERR_LOCK_MISMATCH',
      message: /barrier .*exists with the number of parties 2, not 3: construct it alike/,
    })
  })
})
