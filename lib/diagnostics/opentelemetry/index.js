'use strict'
// Reports locks with diagnostics to OpenTelemetry: metrics, by name and scope but never by key, and an event on the
// span that was active when a long wait began. Subscribes to the channels of lib/diagnostics/events.js.
const { checkType } = require('../../core/errors.js')
const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const { threadId } = require('node:worker_threads')
const { metrics, trace } = require('@opentelemetry/api')
const { reports } = require('../sources.js')
const { checkKnown, checkMilliseconds, checkObject } = require('../../core/options.js')
const { version } = require('../../../package.json')
const { makeInstruments } = require('./instruments.js')

const name = 'boxoffice'
const known = new Set(['enabled', 'waitThreshold'])

function readConfig(config) {
  checkObject(config)
  checkKnown(config, known)
  const { enabled = true, waitThreshold = 100 } = config
  checkType('enabled', enabled, 'boolean')
  checkMilliseconds('waitThreshold', waitThreshold)
  if (!(waitThreshold >= 0)) {
    throw new RangeError(`waitThreshold must be 0 ms or more, not ${waitThreshold}`)
  }
  return { enabled, waitThreshold }
}

const attributesOf = (lock) => ({
  'boxoffice.lock.kind': lock.kind,
  // A lock without a name has no such attribute.
  ...(lock.name !== undefined && { 'boxoffice.lock.name': lock.name }),
  'boxoffice.lock.scope': lock.scope,
})

/** Returns the type of an error for a metric. A metric needs few values, and a signal's reason may be anything. */
function errorTypeOf(reason) {
  if (typeof reason?.code === 'string' && reason.code.startsWith('ERR_LOCK_')) return reason.code
  return reason?.name === 'AbortError' || reason?.name === 'TimeoutError' ? reason.name : '_OTHER'
}

/** Has the shape of OpenTelemetry's Instrumentation, without @opentelemetry/instrumentation. */
class BoxofficeInstrumentation {
  instrumentationName = name
  instrumentationVersion = version
  #config
  #instruments
  #isEnabled = false
  /** The spans that were active when waits began, by wait. */
  #spans = new WeakMap()
  #handlers = {
    wait: ({ wait }) => {
      const span = trace.getActiveSpan()
      if (span?.isRecording()) this.#spans.set(wait, span)
    },
    admit: (event) => {
      this.#instruments.acquisitions.add(1, attributesOf(event))
      this.#waited(event)
    },
    release: ({ held, ...lock }) => {
      this.#instruments.holdDuration.record(held / 1000, attributesOf(lock))
    },
    timeout: (event) => {
      this.#instruments.timeouts.add(1, attributesOf(event))
      this.#waited(event, 'ERR_LOCK_TIMEOUT')
    },
    abort: (event) => {
      this.#instruments.aborts.add(1, attributesOf(event))
      this.#waited(event, errorTypeOf(event.reason))
    },
    abandoned: (lock) => this.#instruments.abandoned.add(1, attributesOf(lock)),
    deadlock: (lock) => this.#instruments.deadlocks.add(1, attributesOf(lock)),
  }
  #observe = (result) => this.#observes(result)

  constructor(config = {}) {
    this.#config = readConfig(config)
    this.#instruments = makeInstruments(metrics.getMeter(name, version))
    if (this.#config.enabled) this.enable()
  }

  enable() {
    if (this.#isEnabled) return
    this.#isEnabled = true
    this.#eachHandler(subscribe)
    this.#instruments.observe(this.#observe)
  }

  disable() {
    if (!this.#isEnabled) return
    this.#isEnabled = false
    this.#eachHandler(unsubscribe)
    this.#instruments.stopObserving(this.#observe)
  }

  setMeterProvider(meterProvider) {
    const wasEnabled = this.#isEnabled
    this.disable()
    this.#instruments = makeInstruments(meterProvider.getMeter(name, version))
    if (wasEnabled) this.enable()
  }

  /** Events go to the program's own span, so no tracer is needed. */
  setTracerProvider() {}

  setConfig(config) {
    this.#config = readConfig(config)
  }

  getConfig() {
    return this.#config
  }

  #eachHandler(call) {
    for (const [event, handler] of Object.entries(this.#handlers))
      call(`boxoffice:${event}`, handler)
  }

  /** Records the end of a wait, with the type of the error that the caller gets, if any. */
  #waited({ waited, wait, ...lock }, errorType) {
    const duration = waited / 1000
    const attributes = { ...attributesOf(lock), ...(errorType && { 'error.type': errorType }) }
    this.#instruments.waitDuration.record(duration, attributes)
    if (wait === undefined || waited < this.#config.waitThreshold) return
    // A span that has ended takes no more events.
    const span = this.#spans.get(wait)
    if (!span?.isRecording()) return
    span.addEvent('boxoffice.lock.wait', {
      ...attributes,
      'boxoffice.lock.wait.duration': duration,
    })
  }

  #observes(result) {
    const { waiting, held } = this.#instruments
    for (const { attributes, ...counts } of lockCounts()) {
      result.observe(waiting, counts.waiting, attributes)
      result.observe(held, counts.held, attributes)
    }
  }
}

/**
 * Returns the number of waiters and holders for each kind, name and scope of locks, as far as this thread knows them.
 */
function lockCounts() {
  const all = new Map()
  for (const { kind, name, scope, waiting, holders } of reports()) {
    const text = JSON.stringify([kind, name, scope])
    if (!all.has(text)) {
      all.set(text, { attributes: attributesOf({ kind, name, scope }), waiting: 0, held: 0 })
    }
    const counts = all.get(text)
    counts.waiting += waiting
    for (const { thread, weight = 1 } of holders) if (thread === threadId) counts.held += weight
  }
  return all.values()
}

module.exports = { BoxofficeInstrumentation }
