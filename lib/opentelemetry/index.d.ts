import type { MeterProvider, TracerProvider } from '@opentelemetry/api'

export interface BoxofficeInstrumentationConfig {
  /** Whether it is enabled from the start. @default true */
  enabled?: boolean
  /**
   * A wait of so many milliseconds or more is an event `boxoffice.lock.wait` of the span that was active where the wait
   * began. `Infinity` means none. @default 100
   */
  waitThreshold?: number
}

/**
 * Metrics of all locks of this thread that have `diagnostics`, by kind, name and scope, never by key; and an event on the
 * active span for each long wait. It is an `Instrumentation` of `@opentelemetry/instrumentation`, for `NodeSDK` and
 * `registerInstrumentations()`, and works without that package. docs/recipes/opentelemetry.md lists the metrics.
 *
 * Without a call of `setMeterProvider()` it uses the global MeterProvider at the time of its construction.
 *
 * @throws {TypeError} when an option is of the wrong type.
 * @throws {RangeError} when `waitThreshold` is NaN or negative.
 *
 * @example
 * const { BoxofficeInstrumentation } = require('boxoffice/opentelemetry')
 *
 * const instrumentation = new BoxofficeInstrumentation({ waitThreshold: 250 })
 * instrumentation.disable()
 */
export class BoxofficeInstrumentation {
  constructor(config?: BoxofficeInstrumentationConfig)
  readonly instrumentationName: string
  readonly instrumentationVersion: string
  /** Begins to listen. Idempotent. */
  enable(): void
  /** Ends that: the locks cost what they did before. Idempotent. */
  disable(): void
  /** The metrics go there from now on. */
  setMeterProvider(meterProvider: MeterProvider): void
  /** Does nothing: it makes no spans. */
  setTracerProvider(tracerProvider: TracerProvider): void
  /** Takes effect at once, but for `enabled`. */
  setConfig(config: BoxofficeInstrumentationConfig): void
  getConfig(): BoxofficeInstrumentationConfig
}
