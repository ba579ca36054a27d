/**
 * Metrics and traces of locks for OpenTelemetry.
 *
 * @module boxoffice/opentelemetry
 */

import type { MeterProvider, TracerProvider } from '@opentelemetry/api'

/** The options of {@link BoxofficeInstrumentation}. */
export interface BoxofficeInstrumentationConfig {
  /** Whether it is enabled from the start. @default true */
  enabled?: boolean | undefined
  /**
   * The shortest wait, in milliseconds, that adds an event `boxoffice.lock.wait` to the span that was active when the
   * wait began. `Infinity` means no events. @default 100
   */
  waitThreshold?: number | undefined
}

/**
 * Records metrics of all locks of this thread that have `diagnostics`, by class, name and scope, never by key. For each
 * long wait it adds an event to the active span. It implements `Instrumentation` of `@opentelemetry/instrumentation`,
 * for `NodeSDK` and `registerInstrumentations()`, and works without that package. docs/recipes/opentelemetry.md lists
 * the metrics.
 *
 * Until `setMeterProvider()` is called it uses the MeterProvider that was global when it was constructed.
 *
 * @throws {TypeError} when an option is of the wrong type.
 * @throws {RangeError} when `waitThreshold` is NaN or negative.
 *
 * @example
 * import { BoxofficeInstrumentation } from 'boxoffice/opentelemetry'
 *
 * const instrumentation = new BoxofficeInstrumentation({ waitThreshold: 250 })
 * instrumentation.disable()
 */
export class BoxofficeInstrumentation {
  constructor(config?: BoxofficeInstrumentationConfig)
  readonly instrumentationName: string
  readonly instrumentationVersion: string
  /** Starts recording. Idempotent. */
  enable(): void
  /** Stops recording. After that it costs nothing. Idempotent. */
  disable(): void
  /** Sends the metrics to `meterProvider` from now on. */
  setMeterProvider(meterProvider: MeterProvider): void
  /** Does nothing, because this instrumentation creates no spans. */
  setTracerProvider(tracerProvider: TracerProvider): void
  /**
   * Replaces the configuration. `waitThreshold` takes effect at once. `enabled` has no effect: call `enable()` or
   * `disable()`.
   */
  setConfig(config: BoxofficeInstrumentationConfig): void
  /** The configuration, with the defaults of options that were left out. */
  getConfig(): { enabled: boolean; waitThreshold: number }
}
