'use strict'
// Processes of this machine elect a leader. The oracle is a file without a lock: each leader
// appends a line when its callback begins, and another before it ends.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { LeaderElection } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')
const { scaled } = require('../helpers/scale.js')

describe('A LeaderElection of scope host', function () {
  // The tests start processes, and on a busy machine a process may not run for a while.
  this.timeout(120_000)
  const hosts = useHosts()
  let name
  let file
  beforeEach(() => {
    name = freshName()
    file = path.join(hosts.directory, `${name}.log`)
  })
  const open = () => new LeaderElection({ scope: 'host', name, directory: hosts.directory })

  /** A process with an election, and lead(): a candidate that leads until `my.end(value)`, or until it is told to stop. */
  async function candidate() {
    const host = hosts.start()
    await host.does(`
      const { appendFileSync } = require('node:fs')
      my.election = new boxoffice.LeaderElection({ scope: 'host', name: ${JSON.stringify(name)} })
      my.say = (what, token = 0n) =>
        appendFileSync(${JSON.stringify(file)}, \`\${process.pid} \${what} \${token}\\n\`)
      my.lead = () => my.election.lead(async (signal, { abandoned, fencingToken }) => {
        my.say(abandoned ? 'abandoned' : 'in', fencingToken)
        const result = await new Promise((resolve) => {
          my.end = resolve
          signal.addEventListener('abort', () => resolve(signal.reason.code))
        })
        my.say('out')
        return result
      })`)
    return Object.assign(host, {
      lead: () => host.does('return my.lead()'),
      end: () => host.does('my.end("through")'),
    })
  }

  const lines = () => {
    const text = readFileSync(file, { encoding: 'utf8', flag: 'a+' })
    // A line that another process is writing may be there in part.
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const [pid, what, token] = line.split(' ')
        return { pid: Number(pid), what, token: BigInt(token) }
      })
  }
  const said = () => lines().map(({ pid, what }) => [pid, what])
  /** Resolves when the file has `count` lines. */
  const says = async (count) => {
    while (lines().length < count) await sleep(2)
  }

  /** Each leader begins after the one before has ended or was `killed`; tokens increase. */
  function check(all, killed = new Set()) {
    let leader
    let last = 0n
    for (const { pid, what, token } of all) {
      if (what === 'out') {
        assert.equal(pid, leader, 'no leader ends but the one there is')
        leader = undefined
        continue
      }
      assert.ok(leader === undefined || killed.has(leader), `${pid} leads beside ${leader}`)
      // A leader may be killed after the line of its end, or before the line of its begin.
      if (leader !== undefined) assert.equal(what, 'abandoned')
      if (what === 'abandoned') assert.ok(killed.size > 0, 'no leader has died')
      assert.ok(token > last, `${token} after ${last}`)
      leader = pid
      last = token
    }
  }

  it('hands over in order when a leader ends cleanly, and knows the leader', async () => {
    const watcher = open()
    const all = []
    const led = []
    for (let i = 0; i < 3; i++) {
      all.push(await candidate())
      led.push(all[i].lead())
      if (i === 0) await says(1)
      // It is queued before the next step.
      await all[i].does('await turn()')
    }
    assert.equal(watcher.leader(), all[0].pid)
    assert.equal(await all[0].does('return my.election.leader()'), all[0].pid)
    assert.deepEqual(await Promise.all(all.map((one) => one.does('return my.election.isLeader'))), [
      true,
      false,
      false,
    ])
    for (let i = 0; i < 3; i++) {
      await says(2 * i + 1)
      assert.equal(watcher.leader(), all[i].pid)
      await all[i].end()
      assert.equal(await led[i], 'through')
    }
    assert.deepEqual(
      said(),
      all.flatMap(({ pid }) => [
        [pid, 'in'],
        [pid, 'out'],
      ]),
    )
    check(lines())
    assert.equal(watcher.leader(), undefined)
  })

  it('hands over when a leader closes its election', async () => {
    const [one, other] = [await candidate(), await candidate()]
    const led = one.lead()
    await says(1)
    const next = other.lead()
    await other.does('await turn()')
    await one.does('return my.election.close()')
    assert.equal(await led, 'ERR_LOCK_CLOSED')
    await says(3)
    await other.end()
    await next
    check(lines())
  })

  for (const [how, dies] of [
    ['is killed', (host) => host.dies()],
    ['exits without closing anything', (host) => host.does('process.exit()').catch(() => {})],
  ]) {
    it(`has the next leader as soon as one ${how}, and tells it`, async () => {
      const [one, other] = [await candidate(), await candidate()]
      one.lead().catch(() => {})
      await says(1)
      const next = other.lead()
      await other.does('await turn()')
      assert.deepEqual(said(), [[one.pid, 'in']])
      dies(one)
      await says(2)
      assert.deepEqual(said().at(-1), [other.pid, 'abandoned'])
      assert.equal(open().leader(), other.pid)
      await other.end()
      assert.equal(await next, 'through')
      check(lines(), new Set([one.pid]))
    })
  }

  it('ends a term after maxHold, by its signal, and leads again after the callback', async () => {
    const options = { scope: 'host', name, directory: hosts.directory, maxHold: 200 }
    const election = new LeaderElection(options)
    const other = await candidate()
    let terms = 0
    const led = election.lead(async (signal, { abandoned }) => {
      if (++terms === 2) return { abandoned }
      const next = other.lead()
      await once(signal, 'abort')
      assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
      assert.equal(election.isLeader, false)
      // It ignores the signal, while the other one leads.
      await says(1)
      await other.end()
      await next
      assert.deepEqual(said(), [
        [other.pid, 'abandoned'],
        [other.pid, 'out'],
      ])
      assert.equal(terms, 1)
      return 'lost'
    })
    assert.deepEqual(await led, { abandoned: false })
    await election.close()
  })

  it('forgets a candidate that is killed while it waits', async () => {
    const [one, two, three] = [await candidate(), await candidate(), await candidate()]
    const led = one.lead()
    await says(1)
    two.lead().catch(() => {})
    await two.does('await turn()')
    const next = three.lead()
    await three.does('await turn()')
    await two.dies()
    await one.end()
    await led
    await says(3)
    assert.deepEqual(said().at(-1), [three.pid, 'in'])
    await three.end()
    await next
    check(lines())
  })

  it('never has two leaders, whichever process is killed', async () => {
    const killed = new Set()
    const rounds = scaled(8, 3)
    const busy = async () => {
      const host = await candidate()
      host
        .does(`
          my.isBusy = true
          while (my.isBusy) {
            await my.election.lead(async (signal, { abandoned, fencingToken }) => {
              my.say(abandoned ? 'abandoned' : 'in', fencingToken)
              for (let i = 0; i < 3; i++) await turn()
              my.say('out')
            })
          }`)
        .catch(() => {})
      return host
    }
    const all = await Promise.all([busy(), busy(), busy()])
    for (let i = 0; i < rounds; i++) {
      await says(lines().length + 20)
      const victim = all.shift()
      killed.add(victim.pid)
      await victim.dies()
      all.push(await busy())
    }
    await says(lines().length + 20)
    await Promise.all(all.map((host) => host.does('my.isBusy = false; await my.election.close()')))
    const log = lines()
    check(log, killed)
    assert.ok(new Set(log.map(({ pid }) => pid)).size > 2, 'several have led')
  })
})
