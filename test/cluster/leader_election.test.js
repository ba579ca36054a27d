'use strict'
// Leaders over an engine: a lost lease, an absent server, a closed engine.
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { randomUUID } = require('node:crypto')
const { once } = require('node:events')
const { createInterface } = require('node:readline')
const { setTimeout: sleep } = require('node:timers/promises')
const { KeyedMutex, LeaderElection } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { stop } = require('../helpers/processes.js')
const { turn, watch } = require('../helpers/promises.js')
const { nextWarning, useWarnings } = require('../helpers/warnings.js')
const { assertOver, knownLease } = require('./helpers/known_ends.js')
const { useEnds } = require('./helpers/ends.js')
const { timedWorld } = require('./helpers/fake_world.js')
const { gate } = require('./helpers/gate.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { redisServer } = require('./helpers/servers.js')
const { warmUp } = require('./helpers/warm_up.js')

const unanswered = 'BOXOFFICE_ELECTION_UNANSWERED'

describe('A LeaderElection over an engine', () => {
  useWarnings(unanswered)
  const world = timedWorld()
  const open = (engine, name = 'mail') => new LeaderElection({ engine, name })

  it('needs a name, and cannot report a pid', async () => {
    const engine = await world.newEngine()
    assert.throws(() => new LeaderElection({ engine }), TypeError)
    assert.throws(() => new LeaderElection({ engine, name: 'a', scope: 'host' }), TypeError)
    assert.throws(() => open(engine).leader(), { code: 'ERR_LOCK_UNSUPPORTED' })
  })

  it('gives each term a higher token', async () => {
    const [a, b] = [await world.newEngine(), await world.newEngine()]
    const tokenOf = (engine) => open(engine).lead((_, { fencingToken }) => fencingToken)
    const tokens = [await tokenOf(a), await tokenOf(b), await tokenOf(a)]
    assert.ok(tokens[0] < tokens[1] && tokens[1] < tokens[2], `${tokens}`)
  })

  it('runs the callback again when it leads again, after it has lost the lease', async () => {
    const engine = await world.newEngine({ ttl: 200, maxHold: 250 })
    const reasons = []
    const led = open(engine).lead(async (signal, { abandoned }) => {
      if (reasons.length === 2) return abandoned
      await once(signal, 'abort')
      reasons.push(signal.reason.code)
      // The result or error of that callback is ignored: it does not lead any more.
      if (reasons.length === 2) throw signal.reason
      return 'lost'
    })
    const result = await world.clock.until(led)
    assert.deepEqual([result, reasons], [true, ['ERR_LOCK_LOST', 'ERR_LOCK_LOST']])
  })

  it('stops for an error other than the loss of the lease', async () => {
    const engine = await world.newEngine({ ttl: 200, maxHold: 250 })
    const led = open(engine).lead(async (signal) => {
      await once(signal, 'abort')
      throw new Error('broken')
    })
    await assert.rejects(world.clock.until(led), /broken/)
  })

  it('does not lead again while a callback ignores the loss of the lease', async () => {
    const [a, b] = [await world.newEngine({ ttl: 200, maxHold: 250 }), await world.newEngine()]
    const one = open(a)
    let end
    let terms = 0
    let told
    const led = one.lead((signal) => {
      terms++
      if (terms === 2) return 'again'
      told = signal
      return new Promise((resolve) => {
        end = resolve
      })
    })
    // Others lead, after its signal.
    const wasTold = await world.clock.until(open(b).lead(() => told.aborted))
    assert.equal(wasTold, true)
    assert.equal(await world.clock.until(open(b).lead(() => 'free')), 'free')
    assert.deepEqual([terms, one.isLeader], [1, false])
    end()
    assert.equal(await led, 'again')
  })

  it('goes on while the server does not answer, and warns once', async () => {
    const engine = await world.newEngine({ answerTimeout: 1000 })
    const warnings = []
    const note = ({ code, message }) => {
      if (code === unanswered) warnings.push(message)
    }
    process.on('warning', note)
    let answer
    world.server.trouble = new Promise((resolve) => {
      answer = resolve
    })
    const led = open(engine).lead(() => 'at last')
    // Several times as long as a warning takes.
    await world.clock.pass(3500)
    assert.equal(warnings.length, 1)
    assert.match(warnings[0], /^the leader election "mail" goes on without an answer: /)
    world.server.trouble = undefined
    answer()
    assert.equal(await world.clock.until(led), 'at last')
    assert.equal(warnings.length, 1)
    process.off('warning', note)
  })

  it('warns again when a server that has answered falls silent again', async () => {
    const other = open(await world.newEngine())
    const busy = gate()
    const leads = other.lead(() => busy.opened)
    await world.clock.settle()
    let trouble
    const engine = world.engineOver({ answerTimeout: 1000 }, (driver) => ({
      async enter(...args) {
        await trouble?.opened
        return driver.enter(...args)
      },
    }))
    const led = open(engine).lead(() => 'led')
    await world.queued()
    for (let outage = 0; outage < 2; outage++) {
      const warned = nextWarning(unanswered)
      trouble = gate()
      // Longer than a waiter needs to look at the server, and for several attempts without an answer.
      await world.clock.pass(10_000)
      await warned
      trouble.open()
      await world.clock.pass(1000)
    }
    busy.open()
    await leads
    assert.equal(await world.clock.until(led), 'led')
  })

  it('has told the server when close() has resolved', async () => {
    const engine = await world.newEngine()
    const election = open(engine)
    let answer
    const led = election.lead(() => {
      world.server.slowAnswer = new Promise((resolve) => {
        answer = resolve
      })
    })
    await led
    const closed = watch(election.close())
    await world.clock.settle()
    assert.equal(closed.state, 'pending')
    answer()
    await world.clock.settle()
    assert.equal(closed.state, 'resolved')
  })

  it('does not wait in close() for another leader of this thread', async () => {
    const engine = await world.newEngine()
    const [first, second] = [open(engine), open(engine)]
    const led = first.lead((signal) => once(signal, 'abort'))
    await world.clock.settle()
    const leads = second.lead((signal) => once(signal, 'abort'))
    await world.clock.until(first.close())
    await led
    await world.clock.settle()
    assert.equal(second.isLeader, true)
    await world.clock.until(second.close())
    await leads
  })

  it('ends its wait for a silent server by its signal and by close()', async () => {
    const engine = await world.newEngine({ answerTimeout: 1000 })
    const election = open(engine)
    let answer
    world.server.trouble = new Promise((resolve) => {
      answer = resolve
    })
    const called = () => assert.fail('called')
    const stop = new AbortController()
    const aborted = election.lead(called, { signal: stop.signal })
    const closed = election.lead(called)
    await turn()
    stop.abort()
    assert.equal(await aborted, undefined)
    await election.close()
    assert.equal(await closed, undefined)
    world.server.trouble = undefined
    answer()
  })

  it("aborts the leader's signal, and rejects, when the engine is closed", async () => {
    const engine = await world.newEngine()
    const other = await world.newEngine()
    const led = open(engine).lead(async (signal) => {
      await once(signal, 'abort')
      return signal.reason.code
    })
    await world.clock.settle()
    const next = open(other).lead(() => 'next')
    const waiting = open(engine).lead(() => assert.fail('called'))
    const rejected = [led, waiting].map((promise) =>
      assert.rejects(promise, { code: 'ERR_LOCK_ENGINE', message: /closed/ }),
    )
    await world.queued()
    await engine.close()
    await Promise.all(rejected)
    assert.equal(await next, 'next')
  })
})

const servers = {
  Redis: [redisServer, './helpers/redis_connect.js'],
  PostgreSQL: [postgresServer, './helpers/postgres_connect.js'],
  etcd: [etcdServer, './helpers/etcd_connect.js'],
}

for (const [title, [start, connector]] of Object.entries(servers)) {
  describe(`A LeaderElection over ${title}`, function () {
    this.timeout(60_000)
    const { connect } = require(connector)
    let server
    const ends = useEnds()
    before(async () => {
      server = await start()
    })
    after(() => server.close())

    async function newEngine(
      options = { ttl: 1000, maxHold: 20_000 },
      change = (driver) => driver,
    ) {
      const connection = await connect(server.port)
      const engine = new Engine(change(connection.driver()), options)
      ends.push(async () => {
        await engine.close().catch(() => {}) // the server may be away
        await connection.close()
      })
      // From here on a wait takes only one command.
      await warmUp(new KeyedMutex({ engine }))
      return engine
    }

    it('aborts the signal of a leader whose lease is over before another one leads', async () => {
      const name = randomUUID()
      let leaseEnd
      const engine = await newEngine({ ttl: 1000, maxHold: 1000 }, (driver) => {
        const known = knownLease(driver)
        leaseEnd = known.leaseEnd
        return known.driver
      })
      const one = new LeaderElection({ engine, name })
      const other = new LeaderElection({ engine: await newEngine(), name })
      const log = []
      let leads
      const isLeading = new Promise((resolve) => {
        leads = resolve
      })
      const led = one.lead(async (signal, { fencingToken }) => {
        log.push('one leads')
        if (log.length > 1) return fencingToken
        leads({ signal, end: leaseEnd() })
        await once(signal, 'abort')
        log.push(signal.reason.code)
      })
      const { signal, end } = await isLeading
      const wasAbandoned = await other.lead(async (_, { abandoned }) => {
        await assertOver(signal, end)
        log.push('other leads')
        return abandoned
      })
      assert.equal(wasAbandoned, true)
      assert.equal(typeof (await led), 'bigint')
      assert.deepEqual(log, ['one leads', 'ERR_LOCK_LOST', 'other leads', 'one leads'])
    })

    /**
     * A process that leads: { child, line() }, which resolves to its next message. It reports why
     * it has to stop.
     */
    async function leaderThere(name) {
      const script = `
        const { connect } = require(${JSON.stringify(require.resolve(connector))})
        const { Engine } = require(${JSON.stringify(require.resolve('../../lib/cluster/engine.js'))})
        const { LeaderElection } = require(${JSON.stringify(require.resolve('../..'))})
        connect(${server.port}).then(async (connection) => {
          // Its session must not end because this process stalls.
          const engine = new Engine(connection.driver(), { ttl: 3100, maxHold: 60_000 })
          await new LeaderElection({ engine, name: ${JSON.stringify(name)} }).lead((signal) => {
            console.log('leads')
            signal.addEventListener('abort', () => console.log(signal.reason.code))
            return new Promise(() => setInterval(() => {}, 1000))
          })
        })`
      const child = spawn(process.execPath, ['-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      ends.push(() => child.kill('SIGKILL'))
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      const line = async () => (await lines.next()).value
      assert.equal(await line(), 'leads')
      return { child, line }
    }

    it('leads in place of a killed process, when its session is over', async () => {
      const name = randomUUID()
      const { child } = await leaderThere(name)
      const other = new LeaderElection({ engine: await newEngine(), name })
      const led = other.lead((_, { abandoned }) => abandoned)
      const seen = watch(led)
      await sleep(300)
      assert.equal(seen.state, 'pending')
      child.kill('SIGKILL')
      assert.equal(await led, true)
    })

    it('leads in place of a stopped process, which is told so when it goes on', async () => {
      const name = randomUUID()
      const { child, line } = await leaderThere(name)
      const other = new LeaderElection({ engine: await newEngine(), name })
      await stop(child.pid)
      assert.equal(await other.lead((_, { abandoned }) => abandoned), true)
      child.kill('SIGCONT')
      assert.equal(await line(), 'ERR_LOCK_LOST')
    })

    it('leads again when an absent server is back', async () => {
      const election = new LeaderElection({
        engine: await newEngine({ ttl: 3100, maxHold: 20_000, answerTimeout: 1000 }),
        name: randomUUID(),
      })
      const tokens = []
      let told
      const warned = nextWarning(unanswered)
      let leads
      const isLeading = new Promise((resolve) => {
        leads = resolve
      })
      const led = election.lead(async (signal, { fencingToken }) => {
        tokens.push(fencingToken)
        if (tokens.length === 2) return
        leads()
        await once(signal, 'abort')
        told = signal.reason.code
      })
      await isLeading
      await server.stop()
      await warned
      assert.deepEqual([told, election.isLeader], ['ERR_LOCK_LOST', false])
      await server.start()
      await led
      assert.ok(tokens[0] < tokens[1])
    })

    it('hands over when a leader ends cleanly, long before its session would expire', async () => {
      // Last: a PostgreSQL that has crashed grants nothing for the longest ttl in use.
      const options = { ttl: 30_000 }
      const name = randomUUID()
      const [one, other] = [await newEngine(options), await newEngine(options)].map(
        (engine) => new LeaderElection({ engine, name }),
      )
      const stop = new AbortController()
      const log = []
      let leads
      const isLeading = new Promise((resolve) => {
        leads = resolve
      })
      const led = one.lead(
        async (signal) => {
          leads()
          await once(signal, 'abort')
          await sleep(20)
          log.push('one is through')
        },
        { signal: stop.signal },
      )
      await isLeading
      const next = other.lead((_, { abandoned }) => log.push(`other leads ${abandoned}`))
      await sleep(100)
      assert.deepEqual(log, [])
      stop.abort()
      await Promise.all([led, next])
      assert.deepEqual(log, ['one is through', 'other leads false'])
    })
  })
}
