'use strict'
// The data that OpenTelemetry's SDK gets from watched locks.
const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const { context, trace } = require('@opentelemetry/api')
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks')
const { PrometheusExporter, PrometheusSerializer } = require('@opentelemetry/exporter-prometheus')
const sdk = require('@opentelemetry/sdk-metrics')
const tracing = require('@opentelemetry/sdk-trace-base')
const { BoxofficeInstrumentation } = require('boxoffice/opentelemetry')
const { KeyedMutex, Mutex, RWLock, Semaphore } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { inChild } = require('../helpers/children.js')
const { useHosts } = require('../helpers/hosts.js')
const { turn, watch } = require('../helpers/promises.js')
const { packageWithClock } = require('../helpers/vm_instances.js')

const events = ['wait', 'admit', 'release', 'timeout', 'abort', 'abandoned', 'deadlock']
/** The time of the locks of `clocked`, in ms. */
const clock = { now: 1000 }
const load = packageWithClock(clock)
const clocked = load('../..')
const isListening = () => events.map((event) => channel(`boxoffice:${event}`).hasSubscribers)

describe('The instrumentation for OpenTelemetry', () => {
  const all = []
  let exporter
  let reader
  let provider
  beforeEach(() => {
    exporter = new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE)
    // Exports only when asked.
    reader = new sdk.PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 })
    provider = new sdk.MeterProvider({ readers: [reader] })
  })
  afterEach(async () => {
    for (const one of all.splice(0)) one.disable()
    await provider.shutdown()
    assert.deepEqual(new Set(isListening()), new Set([false]))
  })

  function instrument(config, meterProvider = provider, Class = BoxofficeInstrumentation) {
    const instrumentation = new Class(config)
    instrumentation.setMeterProvider(meterProvider)
    all.push(instrumentation)
    return instrumentation
  }

  /** All metrics now: by name, the points of locks called `name`. */
  async function metricsOf(name) {
    exporter.reset()
    await reader.forceFlush()
    const [{ scopeMetrics }] = exporter.getMetrics()
    const found = {}
    for (const { descriptor, dataPoints } of scopeMetrics.flatMap(({ metrics }) => metrics)) {
      const points = dataPoints.filter(
        ({ attributes }) => attributes['boxoffice.lock.name'] === name,
      )
      if (points.length === 0) continue
      found[descriptor.name] = { descriptor, points, value: points[0].value }
    }
    return found
  }

  it('counts acquisitions, and measures waits and holds in seconds', async () => {
    instrument({}, provider, load('boxoffice/opentelemetry').BoxofficeInstrumentation)
    const name = freshName()
    const mutex = new clocked.Mutex({ name, diagnostics: true })
    const release = await mutex.acquire()
    const next = mutex.acquire()
    clock.now += 20
    release()
    ;(await next)()
    const seen = await metricsOf(name)
    assert.deepEqual(Object.keys(seen).sort(), [
      'boxoffice.lock.acquisitions',
      'boxoffice.lock.held',
      'boxoffice.lock.hold.duration',
      'boxoffice.lock.wait.duration',
      'boxoffice.lock.waiting',
    ])
    assert.equal(seen['boxoffice.lock.acquisitions'].value, 2)
    for (const what of ['wait', 'hold']) {
      const { descriptor, points, value } = seen[`boxoffice.lock.${what}.duration`]
      assert.equal(descriptor.unit, 's')
      assert.equal(points.length, 1)
      assert.deepEqual(points[0].attributes, {
        'boxoffice.lock.kind': 'Mutex',
        'boxoffice.lock.name': name,
        'boxoffice.lock.scope': 'process',
      })
      assert.equal(value.count, 2)
      assert.deepEqual([value.min, value.max, value.sum], [0, 0.02, 0.02], what)
      assert.ok(value.buckets.boundaries.includes(0.0001))
    }
  })

  it('counts timeouts, aborts and deadlocks, with the duration of failed waits by error.type', async () => {
    instrument()
    const name = freshName()
    const mutex = new Mutex({ name, diagnostics: true })
    mutex.tryLock() // not awaited, so that this chain of calls does not wait for itself
    const fails = (options) => mutex.lock(options).catch(() => {})
    await fails({ timeout: 5 })
    await fails({ timeout: 0 })
    await fails({ signal: AbortSignal.abort() })
    await fails({ signal: AbortSignal.timeout(5) })
    await fails({ signal: AbortSignal.abort('mine') })
    const waiting = fails()
    mutex.cancel()
    await waiting
    mutex.unlock()
    await mutex.runExclusive(() => mutex.lock()).catch(() => {})
    const seen = await metricsOf(name)
    assert.equal(seen['boxoffice.lock.timeouts'].value, 2)
    assert.equal(seen['boxoffice.lock.aborts'].value, 4)
    assert.equal(seen['boxoffice.lock.deadlocks'].value, 1)
    const { points } = seen['boxoffice.lock.wait.duration']
    const counts = points.map(({ attributes, value }) => [attributes['error.type'], value.count])
    assert.deepEqual(Object.fromEntries(counts), {
      undefined: 2,
      ERR_LOCK_TIMEOUT: 2,
      AbortError: 1,
      TimeoutError: 1,
      _OTHER: 1,
      ERR_LOCK_CANCELED: 1,
    })
  })

  for (const diagnostics of ['counters', true]) {
    it(`gauges holders and waiters: ${diagnostics}`, async () => {
      instrument()
      const names = Array.from({ length: 3 }, freshName)
      const users = new KeyedMutex({ name: names[0], diagnostics })
      const pool = new Semaphore(5, { name: names[1], diagnostics })
      const lock = new RWLock({ name: names[2], diagnostics })
      const releases = []
      for (const user of ['ada', 'ben', 'cleo']) releases.push(await users.acquire(user))
      for (const weight of [3, 1]) releases.push((await pool.acquire(weight))[1])
      for (let i = 0; i < 2; i++) releases.push(await lock.acquireRead())
      const keep = (release) => releases.push(release[1] ?? release)
      const waits = [
        users.acquire('ada').then(keep),
        users.acquire('ben').then(keep),
        pool.acquire(2).then(keep),
        lock.acquireWrite().then(keep),
      ]
      const gauges = async (name) => {
        const seen = await metricsOf(name)
        const [held, waiting] = ['held', 'waiting'].map((what) => seen[`boxoffice.lock.${what}`])
        assert.equal(held.points.length + waiting.points.length, 2, 'not by key')
        return [held.value, waiting.value]
      }
      assert.deepEqual(await gauges(names[0]), [3, 2])
      assert.deepEqual(await gauges(names[1]), [4, 1])
      assert.deepEqual(await gauges(names[2]), [2, 1])
      for (const release of releases.splice(0)) release()
      await Promise.all(waits)
      for (const release of releases.splice(0)) release()
      await turn()
      for (const name of names) assert.deepEqual(await gauges(name), [0, 0])
    })
  }

  it('has no key in any attribute, however many keys there are', async () => {
    instrument()
    const name = freshName()
    const users = new KeyedMutex({ name, diagnostics: 'counters' })
    for (let i = 0; i < 100; i++) await users.runExclusive(`user ${i}`, () => {})
    const seen = await metricsOf(name)
    assert.equal(seen['boxoffice.lock.acquisitions'].value, 100)
    for (const { points } of Object.values(seen)) {
      assert.equal(points.length, 1)
      assert.equal(JSON.stringify(points[0].attributes).includes('user'), false)
    }
  })

  it('gives locks without a name no name', async () => {
    instrument()
    await new Mutex({ diagnostics: 'counters' }).runExclusive(() => {})
    const { points } = (await metricsOf(undefined))['boxoffice.lock.acquisitions']
    assert.deepEqual(points[0].attributes, {
      'boxoffice.lock.kind': 'Mutex',
      'boxoffice.lock.scope': 'process',
    })
  })

  it('gets nothing before it is enabled and after it is disabled, and resumes afterwards', async () => {
    assert.deepEqual(new Set(isListening()), new Set([false]))
    const instrumentation = instrument({ enabled: false })
    const name = freshName()
    const mutex = new Mutex({ name, diagnostics: 'counters' })
    const use = () => mutex.runExclusive(() => {})
    const count = async () => (await metricsOf(name))['boxoffice.lock.acquisitions']?.value
    await use()
    assert.deepEqual(new Set(isListening()), new Set([false]))
    instrumentation.enable()
    instrumentation.enable()
    assert.deepEqual(new Set(isListening()), new Set([true]))
    await use()
    assert.equal(await count(), 1)
    instrumentation.disable()
    instrumentation.disable()
    const release = await mutex.acquire()
    const seen = await metricsOf(name)
    assert.equal(seen['boxoffice.lock.acquisitions'].value, 1)
    assert.equal(seen['boxoffice.lock.held'].value, 0, 'as it was last')
    release()
    instrumentation.enable()
    await use()
    assert.equal(await count(), 2)
  })

  it('moves to another MeterProvider', async () => {
    const instrumentation = instrument()
    const name = freshName()
    const mutex = new Mutex({ name, diagnostics: 'counters' })
    await mutex.runExclusive(() => {})
    const other = new sdk.MeterProvider()
    instrumentation.setMeterProvider(other)
    await mutex.runExclusive(() => {})
    const seen = await metricsOf(name)
    assert.equal(seen['boxoffice.lock.acquisitions'].value, 1)
    assert.equal(seen['boxoffice.lock.held'], undefined)
    await other.shutdown()
  })

  it('refuses options that are wrong, and takes others later', () => {
    const make = (config) => () => new BoxofficeInstrumentation(config)
    assert.throws(make({ waitThreshhold: 5 }), /did you mean waitThreshold\?/)
    assert.throws(make({ waitThreshold: '5' }), TypeError)
    assert.throws(make({ waitThreshold: -1 }), RangeError)
    assert.throws(make({ waitThreshold: NaN }), RangeError)
    assert.throws(make({ enabled: 1 }), TypeError)
    assert.throws(make(null), TypeError)
    const instrumentation = instrument()
    assert.deepEqual(instrumentation.getConfig(), { enabled: true, waitThreshold: 100 })
    instrumentation.setConfig({ waitThreshold: 5 })
    assert.equal(instrumentation.getConfig().waitThreshold, 5)
    assert.throws(() => instrumentation.setConfig({ threshold: 5 }), TypeError)
    instrumentation.setTracerProvider(trace.getTracerProvider())
    assert.equal(instrumentation.instrumentationName, 'boxoffice')
    assert.equal(instrumentation.instrumentationVersion, require('../../package.json').version)
  })

  it('is shown by Prometheus', async () => {
    const scraped = new PrometheusExporter({ preventServerStart: true })
    const prometheus = new sdk.MeterProvider({ readers: [scraped] })
    instrument({}, prometheus)
    const name = freshName()
    const users = new KeyedMutex({ name, diagnostics: 'counters' })
    const release = await users.acquire('ada')
    const { resourceMetrics, errors } = await scraped.collect()
    assert.deepEqual(errors, [])
    const text = new PrometheusSerializer().serialize(resourceMetrics)
    release()
    await prometheus.shutdown()
    const lines = text.split('\n').filter((line) => line.includes(`boxoffice_lock_name="${name}"`))
    const numberOf = (metric) => {
      const found = lines.filter((line) => line.startsWith(`${metric}{`))
      assert.equal(found.length, 1, `${metric}: ${lines.join('\n')}`)
      return Number(found[0].split('} ')[1].split(' ')[0])
    }
    assert.equal(numberOf('boxoffice_lock_acquisitions_total'), 1)
    assert.equal(numberOf('boxoffice_lock_held'), 1)
    assert.equal(numberOf('boxoffice_lock_waiting'), 0)
    assert.equal(numberOf('boxoffice_lock_wait_duration_count'), 1)
  })

  it('is not loaded, and nothing of OpenTelemetry is, by the package', async () => {
    const [files] = await inChild(`
      new Mutex({ diagnostics: true }).tryLock()
      show(Object.keys(require.cache).filter((file) => file.includes('opentelemetry')))`)
    assert.deepEqual(files, [])
  })

  describe('in a trace', () => {
    const hosts = useHosts()
    const spans = new tracing.InMemorySpanExporter()
    const tracer = new tracing.BasicTracerProvider({
      spanProcessors: [new tracing.SimpleSpanProcessor(spans)],
    }).getTracer('test')
    before(() => {
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    })
    after(() => context.disable())
    beforeEach(() => spans.reset())

    /** Runs `work` with a span of that name active, until it is through. */
    const inSpan = (name, work) => {
      const span = tracer.startSpan(name)
      return context.with(trace.setSpan(context.active(), span), async () => {
        try {
          return await work()
        } finally {
          span.end()
        }
      })
    }
    const eventsOf = (name) => spans.getFinishedSpans().find((span) => span.name === name).events

    const locks = {
      'of a thread': () => new clocked.Mutex({ diagnostics: true }),
      'of a thread, by counters': () => new clocked.Mutex({ diagnostics: 'counters' }),
      'of a process': () => new clocked.Mutex({ name: freshName(), diagnostics: true }),
      'of a key': () => {
        const users = new clocked.KeyedMutex({ diagnostics: true })
        return { acquire: (options) => users.acquire('ada', options) }
      },
      'that readers share': () => {
        const lock = new clocked.RWLock({ diagnostics: true })
        return { acquire: (options) => lock.acquireWrite(options) }
      },
    }
    for (const [what, make] of Object.entries(locks)) {
      it(`is an event of the span that waited, not of the span that released: a lock ${what}`, async () => {
        instrument({ waitThreshold: 10 })
        const lock = make()
        let release
        await inSpan('before', async () => {
          // Neither is awaited while the other is pending: that would be a deadlock.
          lock.acquire().then((one) => {
            release = one
          })
          await turn()
        })
        const waited = inSpan('waits', async () => (await lock.acquire())())
        const late = watch(inSpan('gives up', () => lock.acquire({ timeout: 20 }).catch(() => {})))
        clock.now += 10
        while (late.state === 'pending') await turn()
        clock.now += 50
        // 'counters' reads the clock once per turn of the event loop: the wait ends in another turn than it began in.
        await turn()
        await inSpan('lets go', async () => {
          release()
          await waited
        })
        assert.deepEqual([eventsOf('before'), eventsOf('lets go')], [[], []])
        const [event, ...more] = eventsOf('waits')
        assert.deepEqual(more, [])
        assert.equal(event.name, 'boxoffice.lock.wait')
        assert.equal(event.attributes['boxoffice.lock.wait.duration'], 0.06)
        assert.equal(event.attributes['boxoffice.lock.scope'], 'process')
        assert.equal(Object.values(event.attributes).includes('ada'), false)
        const [failure] = eventsOf('gives up')
        assert.equal(failure.attributes['error.type'], 'ERR_LOCK_TIMEOUT')
        assert.equal(failure.attributes['boxoffice.lock.wait.duration'], 0.01)
      })
    }

    it('is no event where the wait was short, or the span has ended', async () => {
      instrument({ waitThreshold: 10 })
      const mutex = new clocked.Mutex({ diagnostics: true })
      let release = await mutex.acquire()
      const short = inSpan('short', async () => (await mutex.acquire())())
      clock.now += 9
      release()
      await short
      assert.deepEqual(eventsOf('short'), [])
      all[0].setConfig({ waitThreshold: 0 })
      release = await mutex.acquire()
      let waiting
      await inSpan('ended', async () => {
        waiting = mutex.acquire()
      })
      release()
      ;(await waiting)()
      assert.deepEqual(eventsOf('ended'), [])
    })

    it('is an event of the span that waits for another process', async () => {
      instrument({ waitThreshold: 1 })
      const name = freshName()
      const host = hosts.start()
      await host.does(`my.mutex = new boxoffice.Mutex({ scope: 'host', name: ${JSON.stringify(name)} })
        my.release = await my.mutex.acquire()`)
      const { directory } = hosts
      const mutex = new clocked.Mutex({ scope: 'host', name, directory, diagnostics: 'counters' })
      const waited = inSpan('waits', async () => (await mutex.acquire())())
      await turn()
      clock.now += 20
      await host.does('my.release()')
      await waited
      const [event] = eventsOf('waits')
      assert.equal(event.attributes['boxoffice.lock.scope'], 'host')
      assert.equal(event.attributes['boxoffice.lock.wait.duration'], 0.02)
    })
  })
})
